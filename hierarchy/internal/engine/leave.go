package engine

import (
	"slices"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// A goroutine that is started while all processors are busy begins some milliseconds later. So with Go, a round starts
// none for the callbacks that it took out last, among them that of a timer that is due alone. It leaves them to its own
// goroutine, which calls them once the alarm is aimed and the ring is over, if the clock's alarm has the method Then.
// The next ring has another goroutine by then. If it begins before the callbacks do, its round passes them on: no
// callback waits for a round.

// left holds the callbacks that the last round has left, which are counted as queued.
type left[T any] struct {
	relay     atomic.Pointer[executor.Relay[T]] // nil once the callbacks are called or passed on
	afterRing func()                            // makes the clock call callLeft after the ring; nil if it cannot
}

// expectLeft lets rounds leave callbacks to the goroutine of the ring, where that is possible.
func (c *Core[T]) expectLeft() {
	if a, ok := c.aim.alarm.(interface{ Then(func()) }); ok && c.isGo && executor.CanRunHere {
		callLeft := c.callLeft
		c.left.afterRing = func() { a.Then(callLeft) }
	}
}

// callLeft calls the callbacks that the last round has left. The clock calls it after the ring. Another round may be in
// progress, and callLeft shares nothing else with it.
func (c *Core[T]) callLeft() {
	if r := c.left.relay.Swap(nil); r != nil {
		r.RunHere()
	}
}

// passOn gives the callbacks that the last round has left to other goroutines, if they have not begun.
func (c *Core[T]) passOn() {
	if r := c.left.relay.Swap(nil); r != nil {
		r.Start()
	}
}

// leave leaves the callbacks of the timers that were taken out last. If that is not possible, or if the goroutine is
// panicking or exiting, leave dispatches them.
func (r *round[T]) leave() {
	c := r.core
	if len(c.due) == 0 || !r.complete || c.left.afterRing == nil {
		r.dispatch()
		return
	}
	c.left.relay.Store(c.relay(r.queue()))
	c.left.afterRing()
}

// queue returns the values of the timers that were taken out, and counts their callbacks as queued.
func (r *round[T]) queue() []T {
	values := slices.Clone(r.core.due)
	r.forget()
	r.core.inFlight.queue(int64(len(values)))
	return values
}
