package salvage

import (
	"fmt"
	"io"
	"os"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Timer is a timer that was found in a log.
type Timer struct {
	state.Timer
	// Uncertain means that frames are missing after the last one that tells all of the timer. The timer may have ended,
	// or been set, moved or removed since, and may have another value and due time.
	Uncertain bool

	era int // the era in which the log has told all of the timer
	// guessed means that a Move in a later era has given the timer its ID: the Move may have been of another timer of
	// the key, with another value.
	guessed bool
	left    bool // the last attempt was left, and has no end
}

// replayed is the state after the frames of a log.
type replayed struct {
	timers map[string]*Timer
	// lost has, for each key of a timer whose value is missing, the last frame with an operation on the timer.
	lost map[string]uint64
	// begun has the timers with an attempt of which the log has the begin but not the end.
	begun map[string]*Timer
	// era is the number of places before this one at which something is missing. What an earlier era tells of a timer
	// may be out of date.
	era int
}

func newReplayed() *replayed {
	return &replayed{timers: make(map[string]*Timer), lost: make(map[string]uint64), begun: make(map[string]*Timer)}
}

// replay applies the operations of a log. It ignores operations that make no sense after those before them.
func replay(c *chain) (*replayed, error) {
	r := newReplayed()
	var open *os.File
	defer func() { open.Close() }()
	for _, f := range c.frames {
		if open == nil || open.Name() != f.file {
			open.Close() // closing a nil file only returns an error
			var err error
			if open, err = os.Open(f.file); err != nil {
				return nil, err
			}
		}
		data := make([]byte, f.size)
		if _, err := io.ReadFull(io.NewSectionReader(open, f.offset, int64(f.size)), data); err != nil {
			return nil, fmt.Errorf("%s: %w", f.file, err)
		}
		if f.after {
			r.era++
		}
		if err := r.frame(c, data); err != nil {
			return nil, fmt.Errorf("%s has changed meanwhile: %w", f.file, err)
		}
		if f.doubtful {
			r.era++
		}
	}
	if c.cut {
		r.era++
	}
	for _, t := range r.timers {
		if t.Uncertain = t.era < r.era; t.left { // as state.Logged does
			t.Attempt, t.Next, t.Running = max(t.Attempt, 1)-1, 0, true
		}
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
			r.era++
			break
		}
		r.apply(&f, op)
	}
	return nil
}

func (r *replayed) apply(f *frame.Frame, op *frame.Op) {
	key := string(op.Key)
	switch op.Kind {
	case frame.Set, frame.SetAt, frame.Keep, frame.Import:
		r.gone(key)
		t := &Timer{era: r.era, left: op.State == frame.Left, Timer: state.Timer{Key: key, Value: string(op.Value), ID: op.ID,
			Due: op.Due, Wall: op.Wall, Attempt: op.Attempt, Next: op.Next, Dead: op.State == frame.Dead,
			Extra: state.Extra{Schedule: string(op.Schedule), Trace: string(op.Trace), Missed: op.Missed, Started: op.Started,
				LastError: string(op.Error), Failed: op.Failed, Debounced: op.Debounced, Since: op.Since,
				Paused: op.Paused}}}
		r.timers[key] = t
		if op.State == frame.Begun {
			r.begun[key] = t
		}
	case frame.Remove, frame.End, frame.Expire:
		r.gone(key)
	case frame.Move, frame.MoveAt, frame.Begin, frame.Fail, frame.Die, frame.Revive, frame.Next, frame.Start,
		frame.Pause, frame.Resume:
		r.changed(key, f, op)
	case frame.Close:
		r.stopped()
	}
}

// gone forgets the timer of a key.
func (r *replayed) gone(key string) {
	delete(r.timers, key)
	delete(r.lost, key)
	delete(r.begun, key)
}

// changed applies an operation that tells only a part of a timer. After a gap, the rest may be out of date even if the
// operation names the timer: a Start or a Revive, which keep the ID, may be missing. And Move, MoveAt, Pause and Resume do
// not name the timer that they change. A Next determines all that the ID of the run before does not, if it determines the last
// error.
func (r *replayed) changed(key string, f *frame.Frame, op *frame.Op) {
	t := r.timers[key]
	number := op.ID.Number
	if op.Kind == frame.Next {
		number = op.Ended
	}
	moved := op.Kind == frame.Move || op.Kind == frame.MoveAt || op.Kind == frame.Resume && op.Moved
	named := !moved && op.Kind != frame.Pause && op.Kind != frame.Resume
	if t == nil || named && t.ID.Number != number {
		r.gone(key)
		r.lost[key] = f.Number // until a keep follows
		return
	}
	t.change(f, op)
	if !keepsAttempt(op) {
		delete(r.begun, key)
	}
	switch {
	case op.Kind == frame.Begin && op.Name == 0:
		r.begun[key] = t
	case moved && t.era < r.era:
		t.guessed = true
	case op.Kind == frame.Next && !t.guessed && (op.How == frame.Returned || len(op.Error) > 0):
		t.era = r.era
	}
}

// keepsAttempt reports whether an attempt that was left, or has no end in the log, goes on after the operation.
func keepsAttempt(op *frame.Op) bool {
	return op.Kind == frame.Start || op.Kind == frame.Pause || op.Kind == frame.Resume && !op.Moved
}

// stopped applies a Close: an attempt that has begun and has no end in the log does not count.
func (r *replayed) stopped() {
	for _, t := range r.begun {
		if t.Attempt = max(t.Attempt, 1) - 1; t.Attempt == 0 {
			t.Next = 0
		}
	}
	clear(r.begun)
}

// change applies an operation to a timer. If the timer is dead, but the operation is on a timer that is not, its Revive
// is missing.
func (t *Timer) change(f *frame.Frame, op *frame.Op) {
	if t.Dead {
		t.Dead = false
		t.Forgive()
	}
	if !keepsAttempt(op) {
		t.left = op.Name != 0
	}
	switch op.Kind {
	case frame.Move, frame.MoveAt:
		t.Due, t.Wall, t.ID, t.Attempt, t.Next = op.Due, op.Wall, op.ID, 0, 0
		t.Extra.Move()
	case frame.Begin:
		t.Attempt = op.Attempt
	case frame.Fail:
		t.Attempt, t.Next = op.Attempt, op.Next
		t.Fail(&f.Header, op)
	case frame.Die:
		t.Attempt, t.Dead = op.Attempt, true
		t.Fail(&f.Header, op)
	case frame.Revive:
		t.Attempt, t.Next, t.Due, t.Wall = 0, 0, op.Due, false
		t.Forgive()
	case frame.Next:
		t.Due, t.Wall, t.ID, t.Attempt, t.Next = op.Due, true, op.ID, 0, 0
		t.End(&f.Header, op)
	case frame.Pause:
		t.Paused = true
	case frame.Resume:
		t.Extra.Resume(op)
		if op.Moved {
			t.Due, t.Wall, t.ID, t.Attempt, t.Next = op.Due, true, op.ID, 0, 0
		}
	case frame.Start:
		if t.Started = true; op.Moved {
			t.Due, t.Wall, t.Missed = op.Due, true, op.Missed
		}
	}
}
