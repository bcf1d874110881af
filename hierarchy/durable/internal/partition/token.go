package partition

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// An attempt that Begin has begun can have a token, which names it in any process. Then it needs nothing of this one:
// when the partition ends, the attempt is left to the next owner. The log has its name, and the time until which it goes
// on, after which its timer is due again. Whoever owns the log ends the attempt by its name.

// ErrLeft is the cause with which the context of an attempt ends that was left to the next owner.
var ErrLeft = errors.New("durable: the attempt was left to the next owner of the partition")

// token is what an attempt has that can be left. Partition.mu guards that of an attempt.
type token struct {
	until int64 // the owner's time until which the attempt goes on
	left  bool  // the attempt was left to the next owner
	ended bool  // the attempt was ended by its token, so the log takes no other result of it
}

// Token makes the attempt last for a time, counted from now, whoever owns the partition. It returns the name and the
// number by which an Ending ends the attempt until then. It changes nothing once the attempt has ended, or once this
// owner writes nothing any more.
func (t *Taken) Token(d time.Duration) (name uint64, attempt uint32) {
	f := &t.p.firer
	f.mu.Lock()
	defer f.mu.Unlock()
	a := t.a
	here := f.attempts[a.Ref] == a
	if here {
		f.lasting[a.name] = a
	}
	if here || a.left {
		a.until = state.Add(f.time.now(), int64(d))
		if f.stopped {
			f.leaveToNext(a)
		}
	}
	return a.name, a.Attempt
}

// leaveToNext leaves an attempt to the next owner of the log, unless it is about to end. Called again, it gives the
// attempt another time.
func (f *firer) leaveToNext(a *attempt) {
	f.mu.assertHeld()
	if a.limit.over {
		return
	}
	_ = f.queue.put(item{kind: event, Event: core.Left(a.Job, a.name, a.until)})
	if !a.left {
		a.left = true
		f.over(a, ErrLeft)
	}
}

// endedBy is called when an attempt was ended by its token. name is 0 if no token was used.
func (f *firer) endedBy(name uint64) {
	f.mu.assertHeld()
	a := f.lasting[name]
	if a == nil {
		return
	}
	f.remove(a)
	a.ended = true
	if !a.limit.over && !a.left {
		f.over(a, nil)
	}
}

// over releases what an attempt takes that does not end by End.
func (f *firer) over(a *attempt, cause error) {
	f.cfg.Crew.returned(a)
	f.inactive()
	a.cancel(cause)
}

// remove removes an attempt, which may be nil, from those in progress.
func (f *firer) remove(a *attempt) {
	if a == nil {
		return
	}
	if f.attempts[a.Ref] == a {
		delete(f.attempts, a.Ref)
	}
	delete(f.lasting, a.name)
}

// isOver reports whether an attempt was over before End was called, and returns the error of End.
func (f *firer) isOver(a *attempt) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.left {
		return true, ErrLeft
	}
	return a.ended, nil
}

// TokenOf implements core.Attempts.
func (f *firer) TokenOf(ref state.Ref) (name uint64, attempt uint32) {
	f.mu.assertHeld()
	switch a := f.attempts[ref]; {
	case a == nil:
		return f.core.State.Left(ref), f.core.State.Timer(ref).Attempt
	case f.lasting[a.name] != a, a.limit.over:
		return 0, 0
	default:
		return a.name, a.Attempt
	}
}

// died logs the deaths of the frame that was settled, and calls OnDead.
func (f *firer) died(all []core.Death) {
	for _, d := range all {
		f.cfg.warnOfDeath(&d.Event)
		if f.mayDie(&d.Event) {
			f.apart(func() { f.asAlarm(func() { f.onDead(d.Firing, d.Cause) }) })
		}
	}
}
