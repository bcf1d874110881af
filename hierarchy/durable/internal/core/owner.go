// Package core makes the decisions of the owner of one log: which operations of callers are carried out, what goes into a
// frame, and which attempts begin. It does no I/O, starts no goroutine, takes no lock and reads no clock: its caller,
// package partition, passes the time as a number, and does what the results say. Its methods must not be called
// concurrently: Partition.mu guards the state, and so all that is decided from it. Only the frame that is being made, and
// the end of the log, are the writer's alone, which reads them without the lock.
package core

import (
	"hash/maphash"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Owner has what the owner of a log knows, and decides by it. New makes one. The log is read with Replay. Then each frame
// is made with Start, Keep, Call and Record, and once it is in the log, Apply is called.
type Owner struct {
	Config
	State  *state.State
	Head   Head // only the caller of Replay and Apply changes it
	Counts Counts
	Epoch  uint64 // the number of the frame of the takeover
	Owned  int64  // the wall time of the takeover

	applying uint64 // Op.By of the operation that is being applied
	alive    gap    // from the last frame that is not a takeover
	gaps     []gap  // before the takeovers of earlier owners
	draft
	agenda
	attempts
	trims
}

// Head is the end of a log.
type Head struct {
	frame.Header        // of the last frame
	Checksum     uint32 // of the last frame
	End          uint64 // the number of the last message. Strangers' messages may follow the last frame
}

// Next returns the header of a frame at the end of the log.
func (h *Head) Next() frame.Header {
	next := h.Header
	next.Number, next.Previous = h.End+1, h.Checksum
	return next
}

// New returns the Owner of an empty log.
func New(cfg Config) *Owner {
	o := &Owner{Config: cfg}
	o.seed, o.touched = maphash.MakeSeed(), make(map[uint64]int)
	o.suspects, o.isDelayed = make(map[state.Ref]frame.ID), make(map[frame.ID]bool)
	o.running, o.lasting = make(map[state.Ref]*Attempt), make(map[uint64]*Attempt)
	o.outdone, o.claims = make(map[string][]*Attempt), make(map[frame.ID]struct{})
	o.Forget()
	return o
}

// Forget discards everything that was read of the log.
func (o *Owner) Forget() {
	o.State, o.Head, o.span, o.alive, o.gaps = state.New(), Head{}, span{}, gap{}, nil
	o.State.SetRemember(o.Remember)
	o.State.SetKeepDead(o.KeepDead)
	o.State.Superseded = o.superseded
	if o.Withdraws {
		o.State.Withdrawn = func(ref state.Ref) { o.Withdrawn = append(o.Withdrawn, o.held(ref)) }
	}
}

// Replay applies a frame that was read.
func (o *Owner) Replay(f *frame.Frame) error {
	for op, err := range f.Ops() {
		if err == nil {
			err = o.State.Apply(&f.Header, op)
		}
		if err != nil {
			return err
		}
	}
	o.attended(f)
	o.ends(f)
	return nil
}

// Apply applies the frame that was made, as the log has it. It sets Gone and Withdrawn.
func (o *Owner) Apply(f *frame.Frame) error {
	clear(o.Gone)
	o.Gone, o.Withdrawn = o.Gone[:0], nil
	at := 0
	for op, err := range f.Ops() {
		if err != nil {
			return err
		}
		o.applying = o.owns[at]
		at++
		o.overtaken(op)
		if err := o.State.Apply(&f.Header, op); err != nil {
			return err
		}
		o.changed(op)
		o.Counts.add(op)
	}
	o.State.Forget(f.Time)
	clear(o.claims)
	o.Counts.Frames++
	o.Counts.Bytes += uint64(f.Size)
	o.ends(f)
	return nil
}

// ends records that the log ends with a frame.
func (o *Owner) ends(f *frame.Frame) {
	o.Head = Head{f.Header, f.Checksum, f.Number}
	o.appended(f.Number, f.Size)
	o.kept(f.Begin)
}

// held returns the next firing of a timer that is held.
func (o *Owner) held(ref state.Ref) Firing {
	t := o.State.Timer(ref)
	return o.Firing(&t, state.AfterAttempt(t.Attempt))
}

// Held returns the timers that are held.
func (o *Owner) Held() (all []Firing) {
	o.State.EachHeld(func(ref state.Ref) { all = append(all, o.held(ref)) })
	return all
}

// Counts has the numbers of operations and events since Open.
type Counts struct {
	Set, Moved, Removed, Fired, Failed uint64
	Frames, Bytes                      uint64
	Trimmed                            uint64 // timers that were written again
	Died                               uint64 // timers, and runs of schedules, whose last attempt failed
	Expired                            uint64 // dead timers that were removed
}

// add counts an operation.
func (c *Counts) add(op *frame.Op) {
	switch op.Kind {
	case frame.Set, frame.SetAt, frame.Import:
		c.Set++
	case frame.Move, frame.MoveAt:
		c.Moved++
	case frame.Remove:
		c.Removed++
	case frame.Fail:
		c.Failed++
	case frame.Die:
		c.Failed++
		c.Died++
	case frame.Next:
		if op.How == frame.Died {
			c.Failed++
			c.Died++
		}
	case frame.Expire:
		c.Expired++
	case frame.Keep:
		c.Trimmed++
	}
}
