package partition

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"

// finished ends an attempt whose handler has returned, unless it was given up before.
func (f *firer) finished(a *attempt, err error) {
	err = a.limit.end(err)
	if f.returned(a) {
		f.conclude(a, err)
	}
}

// conclude releases the place of an attempt, and gives the result to the writer.
func (f *firer) conclude(a *attempt, err error) {
	made := err != errGone && err != errNotYet // a handler has no way to return these
	var e core.Event
	if made {
		e = a.Result(&f.cfg.Config, err)
	}
	same, delayed := f.forget(a, err)
	if !same || !made {
		a.settled(false)
		f.leave(a.Suspect || delayed)
		return
	}
	if err != nil {
		f.cfg.Logger.Debug("durable: an attempt failed", "key", a.Firing.Key, "attempt", a.Number, "err", err)
	}
	if f.mayDie(&e) {
		dies := func(took bool) { go f.afterDeath(a, e.Cause, took) }
		_ = f.queue.put(item{kind: event, Event: e, ended: dies})
		return
	}
	_ = f.queue.put(item{kind: event, Event: e, ended: a.settled})
	f.leave(a.Suspect)
}

// leave releases the place of an attempt. If another is true, other attempts may be waiting for the end of this one or
// for the lease. Then leave also calls fire, since Resume may have been called just before.
func (f *firer) leave(another bool) {
	f.mu.Lock()
	f.inactive()
	f.mu.Unlock()
	if f.needsPlace() {
		f.cfg.Crew.give()
		if another {
			f.fire()
		}
	}
}

// forget removes an attempt that has ended. same reports whether the attempt still belonged to its timer. delayed reports
// whether its job was put aside until the lease returns.
func (f *firer) forget(a *attempt, err error) (same, delayed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	same = f.core.Stop(&a.Attempt)
	switch {
	case same && err == errNotYet:
		a.cancel(nil)
		f.core.Delay(a.Job)
		return true, true
	case same && err == errGone: // the handler was not called, and no further attempt begins
		f.core.State.Hold(a.Due, a.ID)
	}
	return same, false
}

// inactive is called when an attempt has ended and its result is in the writer's queue.
func (f *firer) inactive() {
	f.mu.assertHeld()
	if f.active--; f.active == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}
