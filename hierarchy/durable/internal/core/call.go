package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Op is an operation that a caller requests: Set, SetAt, Move, MoveAt, Remove, Revive, Pause,
// Resume or Import.
type Op struct {
	Kind       frame.Kind // the kind End ends an attempt by its token: see Ending
	If         Condition  // Set and SetAt: the condition under which the timer is set
	Whole      bool       // the call returns a timer. See Op.returns
	Key, Value []byte
	In         time.Duration // Set and Move: the time until the timer is due, counted from Begin
	Due        int64         // SetAt and MoveAt: the wall time when the timer is due. Otherwise set by Begin, or with the answer
	By         uint64        // the attempt whose handler requests this operation on its own key, or 0. See MarkOwn of package partition
	Timer      *state.Timer  // Import: the timer, without Key and Value. If it was running, the import makes it wait
	Schedule   []byte        // SetAt: when the timer runs, as text. Begin sets Due to the first run
	Trace      []byte        // Set and SetAt: the trace context of the caller
	// Longest is not 0 for a Set that is debounced: see debounce. In is then the time until the call, which may have begun
	// before Begin.
	Quiet, Longest time.Duration
	called         int64   // set by Begin: the owner's time at which the debounced call began
	Ending         *Ending // End
	refused        bool    // the schedule can't be parsed, or has no run
}

// Call is a list of operations that are committed together or, if Parts is set, part by part.
type Call struct {
	Ops     []Op
	Request RequestID
	Parts   []Part // with Request: which operations belong to which caller. If empty, all belong to one caller
	Took    []bool // with the answer: whether each operation was committed. An operation that changes nothing is not
	// Values is set with the answer if there are no Parts. It has, in order, the results of the operations for which
	// Op.returns is true. If the owner is another process and its answer had no room, the last results are
	// missing.
	Values []string
	Origin // set with the answer

	one    [1]Part // the only part of a Call that has a Request and no Parts
	place  int     // the place in the frame of the first operation that is committed, or known if Origin is complete
	dues   []byte  // a buffer for AppendAnswer
	size   int
	result error // set by Owner.Call: the answer to give once the frame is in the log
}

// known is the place of a Call whose Origin is that of an earlier copy, in the log.
const known = -1

// Origin is where the log has the operations of a Call.
type Origin struct {
	Time int64 // of the frame
	// First is the ID of the first timer if the first operation that was committed has set or moved one. The numbers of
	// the operations that were committed, whatever they are, follow each other.
	First frame.ID
}

// Answer returns the answer to c, and sets First. It is called when the frame with that header, which has the operations
// of c, is in the log.
func (c *Call) Answer(h *frame.Header) error {
	if c.place != known {
		c.First = h.NewID(c.place)
	}
	return c.result
}

// Reset empties c, to use it again.
func (c *Call) Reset() {
	clear(c.Ops)
	clear(c.Parts)
	c.Ops, c.Parts, c.Took = c.Ops[:0], c.Parts[:0], c.Took[:0]
	clear(c.Values)
	c.Values, c.Request = c.Values[:0], RequestID{}
}

// InLog reports whether Owner.Call has found that the log has a copy of c already.
func (c *Call) InLog() bool { return c.place == known }

// Size returns the number of bytes that c takes in a frame at most, without the values that it returns.
func (c *Call) Size() int { return c.size }

// CheckSize returns ErrTooLarge for a call with more than MaxOps operations, or with more bytes than the limit most.
func CheckSize(ops, bytes, most int) error {
	if ops > MaxOps || bytes > most {
		return fmt.Errorf("%w: %d operations of about %d bytes, of at most %d and %d", ErrTooLarge, ops, bytes, MaxOps, most)
	}
	return nil
}

// Begin prepares c for Owner.Call. Durations count from now, the owner's time, and schedules from the wall time. Begin must
// be called without locks, as Backoff is the caller's.
func (c *Call) Begin(cfg *Config, now, wall int64) {
	c.size = 0
	for i := range c.Ops {
		a := &c.Ops[i]
		if a.counts() {
			a.Due = state.Add(now, int64(a.In))
			a.called = a.Due
		}
		if a.refused = false; len(a.Schedule) > 0 {
			a.firstRun(wall)
		}
		c.size += len(a.Key) + len(a.Value) + frame.MoreSize(a.Schedule, a.Trace, nil, a.isDebounced()) + opBytes
		if a.Ending != nil {
			c.size += len(a.Ending.Text)
			a.Ending.begin(cfg, a.Key)
		}
		if t := a.Timer; t != nil {
			c.size += frame.MoreSize(t.Schedule, t.Trace, t.LastError, t.Debounced)
			a.refused = !isStorable(t.Schedule)
		}
	}
	if c.Request.named() {
		c.size += c.answerSize()
	}
	for len(c.Took) < len(c.Ops) {
		c.Took = append(c.Took, false)
	}
	c.result = nil
}

// firstRun sets when a timer with a schedule is due.
func (a *Op) firstRun(now int64) {
	s, err := parseSchedule(string(a.Schedule))
	ok := err == nil && len(a.Schedule) <= MaxSchedule
	if ok {
		a.Due, ok = nextRun(s, now)
	}
	a.refused = !ok
}

// refused reports whether one of the operations has a schedule that can't be used.
func refused(ops []Op) bool {
	return slices.ContainsFunc(ops, func(a Op) bool { return a.refused })
}

// HasDurations reports whether the due time of any operation of c counts from now.
func (c *Call) HasDurations() bool {
	return slices.ContainsFunc(c.Ops, func(a Op) bool { return a.counts() })
}

// counts reports whether a's due time counts from now.
func (a *Op) counts() bool { return a.Kind == frame.Set || a.Kind == frame.Move }
