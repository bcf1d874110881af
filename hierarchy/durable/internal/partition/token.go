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

// Token makes the attempt last for a time, counted from now, whoever owns the partition. It returns the name and the
// number by which an Ending ends the attempt until then. It changes nothing once the attempt has ended, or once this
// owner writes nothing any more.
func (t *Taken) Token(d time.Duration) (name uint64, attempt uint32) {
	f := &t.p.firer
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &t.a.Attempt
	if f.core.GiveToken(a, state.Add(f.time.now(), int64(d))) && f.stopped {
		f.leaveToNext(a)
	}
	return a.Name, a.Number
}

// leaveToNext leaves an attempt to the next owner of the log, unless it is about to end. Called again, it gives the
// attempt another time.
func (f *firer) leaveToNext(a *core.Attempt) {
	f.mu.assertHeld()
	if a.Over {
		return
	}
	_ = f.queue.put(item{kind: event, Event: a.Leave()})
	if !a.Left {
		a.Left = true
		f.over(a.Of.(*attempt), ErrLeft)
	}
}

// gone ends the contexts of attempts, and releases what those take that were ended by their tokens.
func (f *firer) gone(all []*core.Attempt) {
	for _, a := range all {
		if a.Ended {
			f.over(a.Of.(*attempt), nil)
		} else {
			a.Of.(*attempt).cancel(nil)
		}
	}
}

// over releases what an attempt takes that does not end by End.
func (f *firer) over(a *attempt, cause error) {
	f.cfg.Crew.returned(a)
	f.inactive()
	a.cancel(cause)
}

// isOver reports whether an attempt was over before End was called, and returns the error of End.
func (f *firer) isOver(a *attempt) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Left {
		return true, ErrLeft
	}
	return a.Ended, nil
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
