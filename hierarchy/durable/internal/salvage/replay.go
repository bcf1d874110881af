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
	// Uncertain means that frames are missing after the last one with an operation on the timer. The timer may have
	// ended, or been set, moved or removed since.
	Uncertain bool

	said uint64 // the number of the last frame with an operation on the timer
}

// replayed is the state after the frames of a log.
type replayed struct {
	timers map[string]*Timer
	// lost has, for each key of a timer whose value is missing, the last frame with an operation on the timer.
	lost map[string]uint64
}

// replay applies the operations of a log. It ignores operations that make no sense after those before them.
func replay(c *chain) (*replayed, error) {
	r := &replayed{timers: make(map[string]*Timer), lost: make(map[string]uint64)}
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
		t := &Timer{said: f.Number, Timer: state.Timer{Key: string(op.Key), Value: string(op.Value), ID: op.ID,
			Due: op.Due, Wall: op.Wall, Attempt: op.Attempt, Next: op.Next, Dead: op.State == frame.Dead,
			Extra: state.Extra{Schedule: string(op.Schedule), Trace: string(op.Trace), Missed: op.Missed, Started: op.Started,
				LastError: string(op.Error), Failed: op.Failed}}}
		r.timers[string(op.Key)] = t
		delete(r.lost, string(op.Key))
	case frame.Remove, frame.End, frame.Expire:
		delete(r.timers, string(op.Key))
		delete(r.lost, string(op.Key))
	case frame.Move, frame.MoveAt, frame.Begin, frame.Fail, frame.Die, frame.Revive, frame.Next, frame.Start:
		t := r.timers[string(op.Key)]
		number := op.ID.Number
		if op.Kind == frame.Next {
			number = op.Ended
		}
		if t == nil || op.Kind != frame.Move && op.Kind != frame.MoveAt && t.ID.Number != number {
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
	case frame.Move, frame.MoveAt:
		t.Due, t.Wall, t.ID, t.Attempt, t.Started = op.Due, op.Wall, op.ID, 0, false
		t.Forgive()
	case frame.Begin:
		t.Attempt = op.Attempt
		if op.Name != 0 {
			t.Next = op.Next
		}
	case frame.Fail:
		t.Attempt, t.Next = op.Attempt, op.Next
		t.Fail(&f.Header, op)
	case frame.Die:
		t.Attempt, t.Dead = op.Attempt, true
		t.Fail(&f.Header, op)
	case frame.Revive:
		t.Attempt, t.Due, t.Wall, t.Dead = 0, op.Due, false, false
		t.Forgive()
	case frame.Next:
		t.Due, t.Wall, t.ID, t.Attempt = op.Due, true, op.ID, 0
		t.End(&f.Header, op)
	case frame.Start:
		if t.Started = true; op.Moved {
			t.Due, t.Wall, t.Missed = op.Due, true, op.Missed
		}
	}
}
