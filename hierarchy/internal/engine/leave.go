package engine

import (
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// A goroutine that is started while all processors are busy begins some milliseconds later. So with Go, a round starts
// none for a callback that is left at its end, as that of a timer that is due alone. It leaves the callback to its own
// goroutine, which calls it once the alarm is aimed and the ring is over, if the clock's alarm has the method Then. The
// next ring has another goroutine by then. If it begins before the callback does, its round passes the callback on: no
// callback waits for a round.
//
// Nothing here allocates, since the garbage collector can make a goroutine that allocates wait as long.

// left holds the callback that the last round has left, which is counted as queued.
type left[T any] struct {
	afterRing func() // immutable; makes the clock call callLeft after the ring; nil if it cannot

	mu    sync.Mutex
	value T    // guarded by mu
	has   bool // guarded by mu; false once the callback is called or passed on
}

// expectLeft lets rounds leave callbacks to the goroutine of the ring, where that is possible.
func (c *Core[T]) expectLeft() {
	if a, ok := c.aim.alarm.(interface{ Then(func()) }); ok && c.isGo {
		callLeft := c.callLeft
		c.left.afterRing = func() { a.Then(callLeft) }
	}
}

// put stores a callback. There must be none.
func (l *left[T]) put(v T) {
	l.mu.Lock()
	l.value, l.has = v, true
	l.mu.Unlock()
}

// take returns the callback, if there is one, and removes it.
func (l *left[T]) take() (v T, ok bool) {
	var zero T
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok = l.value, l.has
	l.value, l.has = zero, false
	return v, ok
}

// callLeft calls the callback that the last round has left. The clock calls callLeft after the ring. Another round may
// be in progress, and callLeft shares nothing else with it.
func (c *Core[T]) callLeft() {
	if v, ok := c.left.take(); ok {
		executor.Here((*tasksOf[T])(c), v)
	}
}

// passOn gives the callback that the last round has left to another goroutine, if it has not begun.
func (c *Core[T]) passOn() {
	if v, ok := c.left.take(); ok {
		c.Submit(v)
	}
}

// leave dispatches the callbacks of the timers that were taken out last, or leaves a single one. It leaves none if the
// goroutine is panicking or exiting.
func (r *round[T]) leave() {
	c := r.core
	if len(c.due) != 1 || !r.complete || c.left.afterRing == nil {
		r.dispatch()
		return
	}
	c.inFlight.queue(1)
	c.left.put(c.due[0])
	r.forget()
	c.left.afterRing()
}
