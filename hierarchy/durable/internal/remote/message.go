package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Version is the version of messages.
const Version = 1

// errVersion is for a message, or an answer, of another version. The call is retried, since the next owner may be able
// to read the message, or may answer in a version that this process can read.
var errVersion = fmt.Errorf("%w: another version", partition.ErrUnavailable)

// kind is the kind of a request.
type kind byte

const (
	opsKind    kind = 1 + iota // operations
	getKind                    // get a timer
	lenKind                    // count the timers
	listKind                   // get a page of all timers
	timeKind                   // get the time of the log
	lookupKind                 // like getKind, but the answer is the whole timer, dead or not
	exportKind                 // get a page of all timers as they were at one moment
	sortedKind                 // get the first timers of a query
)

var errMessage = errors.New("the message can't be read")

// The offsets in a message with operations.
const (
	atMoment = 2  // see moment
	atAge    = 18 // eight bytes: the age, in nanoseconds, of the moment from which the durations count
	atCaller = 26 // eight bytes
)

// startOps begins a message with the operations of the given number of parts.
func startOps(b []byte, id core.RequestID, parts int) []byte {
	b = append(startMessage(b, opsKind), make([]byte, atCaller-atMoment)...)
	b = binary.LittleEndian.AppendUint64(b, id.Caller)
	b = binary.AppendUvarint(b, id.Serial)
	b = binary.AppendUvarint(b, id.Serial-id.Floor)
	return binary.AppendUvarint(b, uint64(parts))
}

// setAge writes the age of the moment from which a message's durations count, and that moment by the owner's clock, or
// the zero Moment if the owner's clock is not known.
func setAge(message []byte, age time.Duration, at partition.Moment) {
	appendMoment(message[:atMoment], at)
	binary.LittleEndian.PutUint64(message[atAge:], uint64(age))
}

// appendPart appends the operations of one call. ago is the time from the beginning of the call to the message's
// moment. The durations of the call count from its beginning.
func appendPart(b []byte, ops []core.Op, ago time.Duration) []byte {
	b = binary.AppendUvarint(b, uint64(len(ops)))
	for i := range ops {
		a := &ops[i]
		b = appendHead(b, a)
		switch a.Kind {
		case frame.Set, frame.Move:
			b = binary.AppendVarint(b, int64(less(a.In, ago)))
		case frame.SetAt, frame.MoveAt:
			b = binary.AppendVarint(b, a.Due)
		case frame.Import:
			b = a.Timer.Append(b)
		case frame.End:
			b = appendEnding(b, a.Ending)
		}
		b = frame.AppendBytes(b, a.Key)
		if hasValue(a.Kind) {
			b = frame.AppendBytes(b, a.Value)
		}
	}
	return b
}

func hasValue(k frame.Kind) bool { return k <= frame.SetAt || k == frame.Import }

// partSize returns an upper bound for the number of bytes that appendPart appends.
func partSize(ops []core.Op) int {
	n := 10
	for i := range ops {
		a := &ops[i]
		n += 2 + 5*binary.MaxVarintLen64 + len(a.Key) + len(a.Value) + len(a.Schedule) + len(a.Trace)
		if t := a.Timer; t != nil {
			n += t.Size()
		}
		if e := a.Ending; e != nil {
			n += 8 + len(e.Text)
		}
	}
	return n
}

// less returns d - by, or the smallest duration on overflow.
func less(d, by time.Duration) time.Duration {
	if left := d - by; left <= d {
		return left
	}
	return math.MinInt64
}

// readOps reads the rest of a message with operations, after its moment. ago is the time since that moment, if the
// moment is known. The Call shares the memory of b.
func readOps(b []byte, ago time.Duration, call *core.Call) error {
	c := newCutter(b)
	age := max(ago, time.Duration(c.Fixed()))
	id := core.RequestID{Caller: c.Fixed(), Serial: c.Uvarint()}
	above := c.Uvarint()
	if id.Caller == 0 || above > id.Serial {
		return errMessage
	}
	id.Floor = id.Serial - above
	call.Request = id
	parts := c.Count(1)
	if parts == 0 || parts > core.MaxOps { // each part has at least one operation
		return errMessage
	}
	call.Parts = slices.Grow(call.Parts, parts)
	call.Ops = slices.Grow(call.Ops, parts)
	for range parts {
		n := c.Count(2)
		if n == 0 {
			return errMessage
		}
		for range n {
			if len(call.Ops) == core.MaxOps || !c.op(call, age) {
				return errMessage
			}
		}
		call.Parts = append(call.Parts, core.Part{End: len(call.Ops)})
	}
	return c.end()
}

// op reads one operation.
func (c *cutter) op(call *core.Call, age time.Duration) bool {
	a := c.head()
	switch a.Kind {
	case frame.Set, frame.Move:
		a.In = less(time.Duration(c.Varint()), age)
	case frame.SetAt, frame.MoveAt:
		a.Due = c.Varint()
	case frame.Import:
		t := state.ReadTimer(&c.Reader)
		a.Timer = &t
		if t.Key != "" || t.Value != "" {
			return false
		}
	case frame.End:
		a.Ending = c.ending()
	case frame.Remove, frame.Revive, frame.Pause, frame.Resume:
	default:
		return false
	}
	a.Key = c.Bytes()
	if hasValue(a.Kind) {
		a.Value = c.Bytes()
	}
	call.Ops = append(call.Ops, a)
	return !c.Failed && len(a.Key) <= math.MaxUint16
}

// startMessage begins a message of any kind.
func startMessage(b []byte, k kind) []byte { return append(b, Version, byte(k)) }

// appendCursor appends the position at which a page begins.
func appendCursor(b []byte, at partition.Cursor) []byte {
	b = binary.AppendUvarint(b, at.Epoch)
	b = binary.AppendUvarint(b, uint64(at.Next))
	return binary.AppendUvarint(b, uint64(at.Limit))
}

func (c *cutter) cursor() partition.Cursor {
	epoch, next, limit := c.Uvarint(), c.Uvarint(), c.Uvarint()
	if next > math.MaxUint32 || limit > math.MaxUint32 {
		c.Fail()
	}
	return partition.Cursor{Epoch: epoch, Next: uint32(next), Limit: uint32(limit)}
}

// cutter reads a message.
type cutter struct{ frame.Reader }

func newCutter(b []byte) cutter { return cutter{frame.Reader{B: b}} }

// end returns an error unless the whole message was read without a failure.
func (c *cutter) end() error {
	if !c.Ended() {
		return errMessage
	}
	return nil
}
