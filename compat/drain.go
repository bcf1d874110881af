package compat

import (
	"sync"

	"golang.org/x/sync/errgroup"
)

// drainWorkers is the most calls of Drain's function that run at once.
const drainWorkers = 8

// Drain removes all pending timers at once and calls fn with the key and value of each. The wheel can still be used,
// also by fn. If the wheel is stopped meanwhile, fn is still called for all removed timers, and Shutdown waits until
// these calls have returned. If fn panics, the panic is recovered and logged, and fn is still called for the others.
//
// Drain does not wait for fn. Up to eight calls of fn run at once, each in its own goroutine. They begin in the order
// of the deadlines: when fn is called for a timer, fn has returned for all but at most seven of the timers that were
// due earlier.
//
// On a *clock.Mock, Drain calls fn in the caller's goroutine, one timer after the other
// in the order of the deadlines, and returns after the last call. If fn calls
// runtime.Goexit, the goroutine ends after fn was called for all timers.
//
// The error is ErrArgument if fn is nil, and ErrClosed if the wheel is stopped. In both
// cases fn is not called.
func (tw *TimingWheel) Drain(fn func(key, value any)) error {
	if fn == nil {
		return ErrArgument
	}
	if tw.isClosed() || !tw.drains.begin() {
		return ErrClosed
	}
	if tw.inline {
		defer tw.drains.end()
		tw.takeOut(fn)
		return nil
	}
	var tasks []task
	tw.takeOut(func(key, value any) { tasks = append(tasks, task{key, value}) })
	go func() {
		defer tw.drains.end()
		runAll(tasks, fn)
	}()
	return nil
}

// takeOut removes all pending timers, then calls fn for each, in the order of their
// deadlines. drains.begin must have been called.
func (tw *TimingWheel) takeOut(fn Execute) {
	removed := sync.OnceFunc(tw.drains.removed)
	defer removed() // if there are no timers
	tw.wheel.Drain(func(key, value any) {
		removed()
		fn(key, value)
	})
}

// task is the key and value of a timer.
type task struct{ key, value any }

// runAll calls fn for all tasks, drainWorkers at a time, and returns when all calls have
// returned.
func runAll(tasks []task, fn Execute) {
	var workers errgroup.Group
	workers.SetLimit(drainWorkers)
	for _, t := range tasks {
		workers.Go(func() error {
			defer recoverTask()
			fn(t.key, t.value)
			return nil
		})
	}
	_ = workers.Wait() // none returns an error
}

// drains counts the calls of Drain whose function has not returned for all timers.
type drains struct {
	mu       sync.Mutex // guards the fields below; also held while a Drain removes timers
	active   int        // guarded by mu
	closed   bool       // guarded by mu; no Drain begins any more
	finished chan struct{}
	// Invariant: finished is closed if and only if closed && active == 0.
}

func newDrains() drains { return drains{finished: make(chan struct{})} }

// begin counts a Drain and returns true, unless the wheel is stopped. It keeps mu locked until removed is called. So
// either Drain or a concurrent Stop gets all pending timers, and Drain returns an error if Stop got them.
func (d *drains) begin() bool {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return false
	}
	d.active++
	return true
}

// removed is called when the timers are removed from the wheel.
func (d *drains) removed() { d.mu.Unlock() }

// end is called when the function of a Drain has returned for all timers.
func (d *drains) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active--
	if d.closed && d.active == 0 {
		close(d.finished)
	}
}

// close prevents any Drain from beginning.
func (d *drains) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed && d.active == 0 {
		close(d.finished)
	}
	d.closed = true
}
