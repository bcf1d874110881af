package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// status is the beginning of an answer. With each status except done, a text follows.
type status byte

const (
	done      status = iota // the result follows
	notMine                 // another process, or nobody, owns the partition
	again                   // the request has no answer yet and should be repeated
	tooLarge                // ErrTooLarge
	isDamaged               // ErrDamaged
	forgotten               // ErrForgotten
	failed                  // any other error
	passed                  // ErrPassed
	old                     // ErrOld, with the time of the log
)

// oldNumber is ErrOld: the message must be sent again with a serial number that is counted from a time of the log on.
type oldNumber struct{ from uint64 }

func (e *oldNumber) Error() string { return core.ErrOld.Error() }

// appendTime appends a time of the log from which messages are numbered.
func appendTime(b []byte, t int64) []byte { return binary.AppendUvarint(b, uint64(max(0, t))) }

func readTime(b []byte) (uint64, error) {
	t, size := binary.Uvarint(b)
	if size <= 0 || size != len(b) || t > math.MaxInt64 { // an empty answer, which would be read as 0, is not a time
		return 0, errMessage
	}
	return t, nil
}

// statusOf returns the status of an error.
func statusOf(err error) status {
	switch {
	case errors.Is(err, core.ErrClosed), errors.Is(err, partition.ErrNotOwner), errors.Is(err, storage.ErrTaken):
		return notMine
	case errors.Is(err, partition.ErrDamaged):
		return isDamaged
	case errors.Is(err, partition.ErrUnavailable):
		return again
	case errors.Is(err, core.ErrTooLarge):
		return tooLarge
	case errors.Is(err, core.ErrForgotten):
		return forgotten
	case errors.Is(err, core.ErrPassed):
		return passed
	case errors.Is(err, core.ErrOld):
		return old
	}
	return failed
}

// appendDone appends the answer to the operations of a call that the log has answered.
func appendDone(b []byte, c *core.Call) []byte {
	b = startAnswer(b, done)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Time))
	b = binary.LittleEndian.AppendUint64(b, c.First.Owner)
	b = binary.AppendUvarint(b, c.First.Number)
	return c.AppendAnswer(b)
}

// origin reads where the log has the operations of an answered message.
func (c *cutter) origin() core.Origin {
	return core.Origin{Time: int64(c.Fixed()), First: frame.ID{Owner: c.Fixed(), Number: c.Uvarint()}}
}

func startAnswer(b []byte, s status) []byte { return append(b, Version, byte(s)) }

// appendFailure appends the answer for an error.
func appendFailure(b []byte, err error) []byte {
	s, text := statusOf(err), err.Error()
	if s == again { // the caller adds the prefix of the text when it gives the call up
		text = strings.TrimPrefix(text, partition.ErrUnavailable.Error()+": ")
	}
	return append(startAnswer(b, s), text...)
}

// errFailed is for any failure of an owner without a status of its own, for example a request that the owner can't
// read.
var errFailed = errors.New("the owner of the partition has failed")

// remoteError is an error of another process. Its text is complete, and needs no prefix.
type remoteError struct {
	text string
	kind error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }

// readAnswer returns the body of an answer with the status done, or the error of an answer with another status. retry
// reports whether the request can be sent again. b is nil if no process received the request.
func readAnswer(b []byte) (body []byte, retry bool, err error) {
	switch {
	case b == nil:
		return nil, true, errNobody
	case len(b) < 2:
		return nil, false, unavailable(errMessage)
	}
	if b[0] != Version {
		return nil, true, fmt.Errorf("another version: the answer has %d instead of %d", b[0], Version)
	}
	text := string(b[2:min(len(b), 2+maxText)])
	switch status(b[1]) {
	case passed:
		return nil, false, core.ErrPassed
	case old:
		from, err := readTime(b[2:])
		if err != nil {
			return nil, false, unavailable(err)
		}
		return nil, false, &oldNumber{from}
	case done:
		return b[2:], false, nil
	case notMine:
		return nil, true, errNotMine
	case again:
		return nil, true, &remoteError{text, nil}
	case tooLarge:
		return nil, false, &remoteError{text, core.ErrTooLarge}
	case isDamaged:
		return nil, false, &remoteError{text, partition.ErrDamaged}
	case forgotten:
		return nil, false, unavailable(core.ErrForgotten)
	}
	return nil, false, unavailable(&remoteError{text, errFailed})
}

// maxText is the largest number of bytes of an error's text that are read.
const maxText = 1 << 10

// found is the answer to a Get.
type found struct {
	value     string
	remaining time.Duration
	ok        bool
}

func appendFound(b []byte, f found) []byte {
	if !f.ok {
		return append(b, 0)
	}
	b = append(b, 1)
	b = binary.AppendVarint(b, int64(f.remaining))
	return frame.AppendBytes(b, f.value)
}

func readFound(b []byte) (f found, err error) {
	c := newCutter(b)
	switch c.Byte() {
	case 0:
	case 1:
		f = found{remaining: time.Duration(c.Varint()), value: string(c.Bytes()), ok: true}
	default:
		c.Fail()
	}
	return f, c.end()
}
