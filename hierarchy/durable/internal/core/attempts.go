package core

import (
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Attempt is an attempt in progress.
type Attempt struct {
	Job
	Name   uint64 // a random number, not 0
	Firing Firing
	Of     any   // what the caller has of the attempt
	Until  int64 // with a token: the owner's time until which the attempt goes on
	Called bool  // the handler was called
	Left   bool  // the attempt was left to the next owner
	Ended  bool  // the attempt was ended by its token, so the log takes no other result of it
	// At most one of these is ever true.
	Over  bool // the handler has returned
	Stuck bool // the attempt was given up
}

// attempts are the attempts in progress.
type attempts struct {
	Gone      []*Attempt // by the frame that was applied last: those whose contexts have to end
	Withdrawn []Firing   // by that frame: see Config.Withdraws

	running map[state.Ref]*Attempt
	lasting map[uint64]*Attempt   // by name: those that have a token
	outdone map[string][]*Attempt // by key: those whose handlers have changed their own timer and still run
	claims  map[frame.ID]struct{} // see claim
}

// Started records that the attempt of a.Job is in progress from now on.
func (o *Owner) Started(a *Attempt) {
	t := o.State.Timer(a.Ref)
	o.State.Start(a.Ref, a.ID, a.Number)
	a.Key, a.Firing = []byte(t.Key), o.Firing(&t, a.Number)
	o.running[a.Ref] = a
}

// Numbers are numbers of attempts: of those in progress, those with tokens whose results are not written yet, and those
// whose handlers have changed their own timer and still run.
type Numbers struct{ Running, Lasting, Outdone int }

// Numbers returns how many attempts there are.
func (o *Owner) Numbers() Numbers { return Numbers{len(o.running), len(o.lasting), len(o.outdone)} }

// IsRunning reports whether the attempt is in progress.
func (o *Owner) IsRunning(a *Attempt) bool { return o.running[a.Ref] == a }

// WithToken returns the attempts in progress that have tokens or, if token is false, the others.
func (o *Owner) WithToken(token bool) (some []*Attempt) {
	for _, a := range o.running {
		if (o.lasting[a.Name] == a) == token {
			some = append(some, a)
		}
	}
	return some
}

// isLasting reports whether the attempt has a token.
func (o *Owner) isLasting(a *Attempt) bool { return o.lasting[a.Name] == a }

// GiveToken makes an attempt last until a time, if it is in progress or was left. It reports whether it does.
func (o *Owner) GiveToken(a *Attempt, until int64) bool {
	here := o.IsRunning(a)
	if here {
		o.lasting[a.Name] = a
	}
	if !here && !a.Left {
		return false
	}
	a.Until = until
	return true
}

// tokenOf returns the name and the number by which the attempt of a timer can be ended now. The name is 0 if there is no
// such attempt.
func (o *Owner) tokenOf(ref state.Ref) (name uint64, attempt uint32) {
	switch a := o.running[ref]; {
	case a == nil:
		return o.State.Left(ref), o.State.Timer(ref).Attempt
	case !o.isLasting(a), a.Over:
		return 0, 0
	default:
		return a.Name, a.Number
	}
}

// Returned records that the handler of an attempt has returned. It reports false if the attempt was given up, left or
// ended by its token before.
func (o *Owner) Returned(a *Attempt) bool {
	if all, ok := o.outdone[string(a.Key)]; ok {
		all = slices.DeleteFunc(all, func(b *Attempt) bool { return a == b })
		if o.outdone[string(a.Key)] = all; len(all) == 0 {
			delete(o.outdone, string(a.Key))
		}
	}
	a.Over = !a.Stuck && !a.Left && !a.Ended
	return a.Over
}

// Stop is called when an attempt has ended. It reports whether the attempt still belonged to its timer. If its token has
// ended it in the frame in flight, the frame has to find it, so it keeps its token until Remove.
func (o *Owner) Stop(a *Attempt) (same bool) {
	if same = o.IsRunning(a); same {
		delete(o.running, a.Ref)
	}
	o.Over(&a.Job)
	return same
}

// Remove removes an attempt, which may be nil, whose result was written or left out.
func (o *Owner) Remove(a *Attempt) {
	if a == nil {
		return
	}
	if o.IsRunning(a) {
		delete(o.running, a.Ref)
	}
	delete(o.lasting, a.Name)
}

// superseded ends the attempt of a timer that was set, moved or removed. If the handler of the attempt has requested
// that, its context does not end.
func (o *Owner) superseded(ref state.Ref) {
	a := o.running[ref]
	if a == nil {
		return
	}
	o.Remove(a)
	if a.Name != o.applying {
		o.Gone = append(o.Gone, a)
		return
	}
	o.outdone[string(a.Key)] = append(o.outdone[string(a.Key)], a)
}

// overtaken is called before an operation is applied. If it ends an attempt that was left, by its token, and the next attempt
// has begun meanwhile, overtaken ends that, whose handler was not called.
func (o *Owner) overtaken(op *frame.Op) {
	switch op.Kind {
	case frame.End, frame.Fail, frame.Die, frame.Next:
		if o.applying != 0 && o.lasting[o.applying] == nil {
			_, ref, _ := o.State.Find(op.Key)
			o.superseded(ref)
		}
	}
}

// changed is called when an operation was applied. It ends the attempt that the operation ends by its token, and the
// contexts of attempts whose handlers have changed their own key before, and still run, unless the handler has requested
// the operation.
func (o *Owner) changed(op *frame.Op) {
	switch op.Kind {
	case frame.End, frame.Fail, frame.Die, frame.Next:
		if a := o.lasting[o.applying]; a != nil {
			o.Remove(a)
			if a.Ended = true; !a.Over && !a.Left {
				o.Gone = append(o.Gone, a)
			}
		}
	case frame.Begin:
		o.Remove(o.lasting[op.Name])
	case frame.Set, frame.SetAt, frame.Move, frame.MoveAt, frame.Remove, frame.Import:
		for _, a := range o.outdone[string(op.Key)] {
			if a.Name != o.applying {
				o.Gone = append(o.Gone, a)
			}
		}
	}
}

// A caller that removes a timer may need to know whether the timer's handler was called. The answer may be part of the
// frame, so it is decided when the frame is made. If the handler has not been called by then, it is not called until
// the outcome of the frame is known.

// claim reports whether the handler of a timer's attempt was called; the handler may have returned since. If the
// handler was not called, claim prevents the call until the frame that is being made is settled.
func (o *Owner) claim(ref state.Ref, id frame.ID) (called bool) {
	if o.State.IsRunning(ref, id) {
		if a := o.running[ref]; a == nil || a.Called {
			return true
		}
	}
	o.claims[id] = struct{}{}
	return false
}

// IsClaimed reports whether the handler of a timer must not be called before the frame is applied, or the next one is
// begun.
func (o *Owner) IsClaimed(id frame.ID) bool {
	_, ok := o.claims[id]
	return ok
}
