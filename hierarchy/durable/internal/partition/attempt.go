package partition

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file shows how a firer calls the handler of a timer: by the methods begin, started, run, handle and finished, in
// this order. If a record must be in the log before the attempt begins, the writer writes it between begin and started,
// and calls written.

// attempt is one call of the handler.
type attempt struct {
	core.Attempt
	done   wait.Signal     // item.done
	ctx    context.Context // ends when the attempt is over, superseded or given up
	cancel context.CancelCauseFunc
	limit  limit

	began   time.Time     // when the handler was called. Crew.mu guards began and running
	running *list.Element // the attempt's place in Crew.running

	logged chan bool // nil, or of capacity 1: receives whether the end of a Taken attempt is in the log
}

var (
	// errGone is the result of an attempt that did not begin, because it was superseded.
	errGone = errors.New("the timer has changed")
	// errNotYet is the result of an attempt that did not begin, because the lease had ended.
	errNotYet = errors.New("the lease has ended")
	errExit   = errors.New("the handler has exited its goroutine")
)

// begin starts the attempt of a job in a goroutine. If the log must have a record of the attempt first, begin only
// queues the record for the writer. It reports false if there is no job, or if the job's timer has changed meanwhile.
func (f *firer) begin(j core.Job, done wait.Signal) bool {
	f.mu.assertHeld()
	write, ok := f.core.Begin(&j, f.cfg.Announce != nil)
	if !ok {
		return false
	}
	f.active++
	if write {
		f.writes()
		_ = f.queue.put(item{kind: event, Event: core.Begun(j), done: done})
		return true
	}
	f.proceed(j, done)
	return true
}

// proceed calls the handler of a job, or announces it, once the log has the records that it must have.
func (f *firer) proceed(j core.Job, done wait.Signal) {
	if f.cfg.Announce == nil {
		go f.run(f.started(j, done))
		return
	}
	f.inactive()
	f.announce(j)
	done.Set()
}

// written continues a job when its item was written, or when the item was left out because the timer has changed.
func (f *firer) written(t *taken) {
	f.mu.assertHeld()
	switch j := t.Job; {
	case !t.IsBegin():
		f.core.Remove(t.Of)
		t.end(t.took)
	case t.took && !f.stopped && f.core.Written(&j):
		if f.keptPlace() || f.takePlace() {
			f.proceed(j, t.done)
			return
		}
		f.postpone(j, t.done)
	default:
		f.notBegun(j, t.done)
	}
}

// notBegun ends a job whose attempt does not begin, although an item was queued to write that it does.
func (f *firer) notBegun(j core.Job, done wait.Signal) {
	f.mu.assertHeld()
	f.core.Over(&j)
	f.inactive()
	if f.keptPlace() {
		f.freePlace()
	}
	done.Set()
}

// started returns the attempt of a job, which is in progress from now on.
func (f *firer) started(j core.Job, done wait.Signal) *attempt {
	f.mu.assertHeld()
	a := &attempt{Attempt: core.Attempt{Job: j, Name: rand.Uint64() | 1}, done: done}
	a.Of = a
	f.core.Started(&a.Attempt)
	a.ctx, a.cancel = context.WithCancelCause(context.WithValue(f.handlers, attemptKey{}, a))
	return a
}

// run calls the handler, and gives the result to the writer. It runs in a goroutine of its own, because the handler may
// call runtime.Goexit.
func (f *firer) run(a *attempt) {
	err := errExit
	defer func() { f.finished(a, err) }()
	f.asAlarm(func() { err = f.handle(a) })
}

// handle calls the handler, unless mayHandle forbids it.
func (f *firer) handle(a *attempt) (err error) {
	if err := f.mayHandle(a); err != nil {
		return err
	}
	defer a.cancel(nil)
	if a.Invalid != nil {
		return a.Invalid
	}
	f.cfg.Crew.entered(a)
	defer f.cfg.Crew.returned(a)
	returned := false
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			f.cfg.Logger.Error("durable: a handler panicked", "key", a.Firing.Key, "err", err, "stack", string(debug.Stack()))
		}
	}()
	err = f.cfg.Handle(f.limited(a), a.Firing)
	returned = true
	return err
}

// mayHandle returns nil if the handler may be called now, and counts it as called.
func (f *firer) mayHandle(a *attempt) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.core.IsClaimed(a.ID) && !f.stopped {
		f.settled.Wait()
	}
	switch {
	case !f.core.IsRunning(&a.Attempt) || f.stopped:
		return errGone
	case !f.tenure.holds():
		return errNotYet
	}
	a.Called = true
	f.fired++
	f.lateness.Add(time.Duration(f.time.since(a.Due.Since, a.Due.Wall)))
	return nil
}
