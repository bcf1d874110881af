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
	Attempts Attempts
	State    *state.State
	Head     Head // only the caller of Replay and Apply changes it
	Counts   Counts
	Epoch    uint64 // the number of the frame of the takeover
	Owned    int64  // the wall time of the takeover

	applying uint64 // Op.By of the operation that is being applied
	alive    int64  // the time of the last frame that is not a takeover
	draft
	agenda
	trims
}

// Attempts are the attempts in progress, whose handlers and contexts the core does not know.
type Attempts interface {
	// Claim reports whether the handler of a timer's attempt was called. If it was not, Claim prevents the call until
	// the frame that is being made is settled.
	Claim(ref state.Ref, id frame.ID) (called bool)
	// TokenOf returns the name and the number by which the attempt of a timer can be ended now. The name is 0 if there
	// is no such attempt.
	TokenOf(ref state.Ref) (name uint64, attempt uint32)
	// Superseded is called when a timer was set, moved or removed. by is the name of the attempt whose handler requested
	// that, or 0.
	Superseded(ref state.Ref, by uint64)
	// Withdrawn is called when a timer that was held was set, moved or removed.
	Withdrawn(ref state.Ref)
	// Changed is called when an operation was applied. by is also the name of the attempt that it ends by its token.
	Changed(op *frame.Op, by uint64)
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
func New(cfg Config, attempts Attempts) *Owner {
	o := &Owner{Config: cfg, Attempts: attempts}
	o.seed, o.touched = maphash.MakeSeed(), make(map[uint64]int)
	o.Forget()
	return o
}

// Forget discards everything that was read of the log.
func (o *Owner) Forget() {
	o.State, o.Head, o.span = state.New(), Head{}, span{}
	o.State.SetRemember(o.Remember)
	o.State.SetKeepDead(o.KeepDead)
	o.State.Superseded = func(ref state.Ref) { o.Attempts.Superseded(ref, o.applying) }
	o.State.Withdrawn = o.Attempts.Withdrawn
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
	if f.Epoch != f.Number { // an owner that has written only its takeover has begun no runs
		o.alive = f.Time
	}
	o.ends(f)
	return nil
}

// Apply applies the frame that was made, as the log has it.
func (o *Owner) Apply(f *frame.Frame) error {
	at := 0
	for op, err := range f.Ops() {
		if err != nil {
			return err
		}
		o.applying = o.owns[at]
		at++
		if err := o.State.Apply(&f.Header, op); err != nil {
			return err
		}
		o.Attempts.Changed(op, o.applying)
		o.Counts.add(op)
	}
	o.State.Forget(f.Time)
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
