package salvage

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Timer is a timer that was found.
type Timer struct {
	Key, Value []byte
	Due        int64 // when its next attempt is due, or for a dead one, was due at first
	Wall       bool  // SetAt's
	Attempts   uint32
	Dead       bool
	Died       int64 // when, if it is dead
	LastError  string
	Schedule   string // as text, if it has one
	Missed     uint32 // how many other runs of the schedule this one stands for
	Started    bool   // an attempt of this run has begun
	Trace      []byte // the trace context of the call that has set it
	ID         frame.ID
	// Uncertain: frames are missing after the last one that says something of the timer. It may have
	// ended, or been set, moved or removed since.
	Uncertain bool

	first int64  // when its first attempt was due
	said  uint64 // the number of the last frame that says something of it
}

// replayed is what the frames of a log say.
type replayed struct {
	timers map[string]*Timer
	// lost are the keys of timers of which the value is missing, and the last frame that says so.
	lost map[string]uint64
}

// replay goes through the operations of a log. What does not fit is no error here.
func replay(c *chain) (*replayed, error) {
	r := &replayed{timers: make(map[string]*Timer), lost: make(map[string]uint64)}
	var open *os.File
	defer func() { open.Close() }()
	for _, f := range c.frames {
		if open == nil || open.Name() != f.file {
			open.Close() // of nil, it is an error without consequence
			var err error
			if open, err = os.Open(f.file); err != nil {
				return nil, err
			}
		}
		data := make([]byte, f.size)
		if _, err := io.ReadFull(io.NewSectionReader(open, f.offset, int64(f.size)), data); err != nil {
			return nil, fmt.Errorf("%s: %w", f.file, err)
		}
		if err := r.frame(c, data); err != nil {
			return nil, fmt.Errorf("%s has changed meanwhile: %w", f.file, err)
		}
	}
	for _, t := range r.timers {
		t.Uncertain = t.said < c.gap
	}
	return r, nil
}

func (r *replayed) frame(c *chain, data []byte) error {
	f, err := frame.Parse(data)
	if err != nil {
		return err
	}
	for op, err := range f.Ops() {
		if err != nil {
			c.problem("frame %d: %v", f.Number, err)
			c.gap = max(c.gap, f.Number)
			break
		}
		r.apply(&f, op)
	}
	return nil
}

func (r *replayed) apply(f *frame.Frame, op *frame.Op) {
	switch op.Kind {
	case frame.Set, frame.SetAt, frame.Keep, frame.Import:
		t := &Timer{Key: slices.Clone(op.Key), Value: slices.Clone(op.Value), Due: op.Due, Wall: op.Wall,
			Attempts: op.Attempt, Dead: op.State == frame.Dead, ID: op.ID, first: op.Due, said: f.Number,
			Schedule: string(op.Schedule), Missed: op.Missed, Started: op.Started, Trace: slices.Clone(op.Trace),
			Died: op.Died, LastError: string(op.Error)}
		if (op.Kind == frame.Keep || op.Kind == frame.Import) && op.Attempt > 0 && !t.Dead {
			t.Due, t.Wall = op.Next, false
		}
		r.timers[string(op.Key)] = t
		delete(r.lost, string(op.Key))
	case frame.Remove, frame.End, frame.Expire:
		delete(r.timers, string(op.Key))
		delete(r.lost, string(op.Key))
	case frame.Move, frame.Begin, frame.Fail, frame.Die, frame.Revive, frame.Next, frame.Start:
		t := r.timers[string(op.Key)]
		number := op.ID.Number
		if op.Kind == frame.Next {
			number = op.Ended
		}
		if t == nil || op.Kind != frame.Move && t.ID.Number != number {
			r.lost[string(op.Key)] = f.Number // until a keep follows
			delete(r.timers, string(op.Key))
			return
		}
		t.change(f, op)
	}
}

// change applies an operation to a timer.
func (t *Timer) change(f *frame.Frame, op *frame.Op) {
	t.said = f.Number
	switch op.Kind {
	case frame.Move:
		t.Due, t.first, t.Wall, t.ID, t.Attempts, t.Started = op.Due, op.Due, false, op.ID, 0, false
	case frame.Begin:
		t.Attempts = op.Attempt
	case frame.Fail:
		t.Attempts, t.Due, t.Wall = op.Attempt, op.Next, false
	case frame.Die:
		t.Attempts, t.Due, t.Dead, t.Died, t.LastError = op.Attempt, t.first, true, f.Time, string(op.Error)
	case frame.Revive:
		t.Attempts, t.Due, t.first, t.Wall, t.Dead, t.Died, t.LastError = 0, op.Due, op.Due, false, false, 0, ""
	case frame.Next:
		t.Due, t.first, t.Wall, t.ID, t.Attempts = op.Due, op.Due, true, op.ID, 0
		t.Missed, t.Started = 0, false
	case frame.Start:
		if t.Started = true; op.Moved {
			t.Due, t.first, t.Wall, t.Missed = op.Due, op.Due, true, op.Missed
		}
	}
}
