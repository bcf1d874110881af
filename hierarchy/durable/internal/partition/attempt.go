package partition

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// attempt is one call of the handler.
type attempt struct {
	job
	name   uint64 // a random number, not 0
	firing Firing
	ctx    context.Context
	cancel context.CancelFunc

	began         time.Time // when its handler was called; this and the others in Crew.running are guarded by Crew.mu
	before, after *attempt
}

// errGone is the result of an attempt that did not begin, because it was superseded.
var errGone = errors.New("the timer has changed")

// errNotYet is the result of an attempt that did not begin, because the lease had ended.
var errNotYet = errors.New("the lease has ended")

var errExit = errors.New("the handler has exited its goroutine")

// run calls the handler, and gives the result to the writer.
func (p *Partition) run(a *attempt) {
	err := errExit // in case the handler exits its goroutine
	defer func() { p.attemptEnded(a, err, nil) }()
	err = p.handle(a)
}

// handle calls the handler, if the timer is still the same and this process the owner.
func (p *Partition) handle(a *attempt) (err error) {
	if err := p.mayHandle(a); err != nil {
		return err
	}
	defer a.cancel()
	p.cfg.Crew.entered(a)
	defer p.cfg.Crew.returned(a)
	returned := false
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			p.cfg.Logger.Error("durable: a handler panicked", "key", a.firing.Key, "err", err, "stack", string(debug.Stack()))
		}
	}()
	err = p.cfg.Handle(a.ctx, a.firing)
	returned = true
	return err
}

// mayHandle is nil if the handler is called now.
func (p *Partition) mayHandle(a *attempt) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.firing.attempts[a.ref] != a || p.firing.stopped:
		return errGone
	case !p.tenure.holds():
		return errNotYet
	}
	p.counts.Fired++
	p.lateness.Add(time.Duration(p.time.since(a.due.Since, a.due.Wall)))
	return nil
}

// putBack has an attempt that did not begin be made when the lease has returned. mu is held.
func (p *Partition) putBack(a *attempt) {
	a.cancel()
	p.state.Hold(a.ref, a.id)
	if f := &p.firing; a.suspect {
		f.accused = append(f.accused, a.job)
	} else {
		f.delayed = append(f.delayed, a.job)
	}
}

// attemptEnded gives the place back and the result to the writer. If done is not nil, it gets
// whether the result is in the log.
func (p *Partition) attemptEnded(a *attempt, err error, done chan bool) {
	it := item{kind: ended, job: a.job, done: done}
	made := err != errGone && err != errNotYet // a handler has no way to return these
	if err != nil && made {
		it.kind, it.wait, it.cause = failed, p.cfg.Backoff(int(a.attempt)), err
	}
	p.mu.Lock()
	same := p.firing.attempts[a.ref] == a
	if same {
		delete(p.firing.attempts, a.ref)
	}
	p.handled(a)
	if a.suspect {
		p.firing.trial = false
	}
	delayed := same && err == errNotYet
	if delayed {
		p.putBack(a)
	}
	p.mu.Unlock()
	if same && made {
		if err != nil {
			p.cfg.Logger.Debug("durable: an attempt failed", "key", a.firing.Key, "attempt", a.attempt, "err", err)
		}
		_ = p.queue.put(it)
	} else {
		it.drop()
	}
	p.mu.Lock()
	p.inactive()
	p.mu.Unlock()
	if !p.virtual {
		p.cfg.Crew.give()
		if a.suspect || delayed { // Resume may have been called just before
			p.fireOrAim()
		}
	}
}

// attemptWritten goes on with an attempt after its item was written, or turned out to be of a
// timer that has changed. mu is held.
func (p *Partition) attemptWritten(t *taken) {
	j := t.job
	switch {
	case t.kind == barrier:
		t.pass()
		return
	case t.kind != begun:
	case t.done != nil: // fireInline goes on itself
	case t.took && p.state.Held(j.ref, j.id) && !p.firing.stopped:
		go p.run(p.started(j))
	default:
		if j.suspect {
			p.firing.trial = false
		}
		p.inactive()
		p.freePlace()
	}
	if t.done != nil {
		t.done <- t.took
	}
}

// inactive is called when an attempt has ended, and its result is in the queue. mu is held.
func (p *Partition) inactive() {
	f := &p.firing
	if f.active--; f.active == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// tellDeath says that a timer is dead, if it is since its failed attempt was written.
func (p *Partition) tellDeath(it *item) {
	if it.kind == failed && p.cfg.isLast(it.job.attempt) {
		p.cfg.Logger.Warn("durable: a timer is dead", "partition", p.cfg.Partition,
			"key", string(it.job.key), "attempt", it.job.attempt, "err", it.cause)
	}
}
