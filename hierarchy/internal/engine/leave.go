package engine

import (
	"sync"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// A goroutine that is started while all processors are busy begins some milliseconds later, and where they are idle one
// of them has to be woken for it. So with Go, a round starts none for the callbacks that it has at its end, which are all
// unless there are many. It leaves them to its own goroutine, which calls them once the alarm is aimed and the ring is
// over, if the clock's alarm has the method Then. The next ring has another goroutine by then. If it begins before the
// callbacks do, its round passes them on: no callback waits for a round.
//
// For a lone callback nothing here allocates, since the garbage collector can make a goroutine that allocates wait as
// long.

// left holds the callbacks that the last round has left, which are counted as queued.
type left[T any] struct {
	afterRing func() // immutable; makes the clock call callLeft after the ring; nil if it cannot

	mu    sync.Mutex
	value T                  // guarded by mu, like those below; a lone callback
	has   bool               // whether there is one; false once it is called or passed on
	relay *executor.Relay[T] // several callbacks; nil once they are called or passed on
}

// expectLeft lets rounds leave callbacks to the goroutine of the ring, where that is possible.
func (c *Core[T]) expectLeft() {
	if a, ok := c.aim.alarm.(clock.Continuer); ok && c.isGo {
		callLeft := c.callLeft
		c.left.afterRing = func() { a.Then(callLeft) }
	}
}

// put stores a lone callback, or several. There must be none.
func (l *left[T]) put(v T, relay *executor.Relay[T]) {
	l.mu.Lock()
	l.value, l.has, l.relay = v, relay == nil, relay
	l.mu.Unlock()
}

// take returns what there is, and removes it.
func (l *left[T]) take() (v T, has bool, relay *executor.Relay[T]) {
	var zero T
	l.mu.Lock()
	defer l.mu.Unlock()
	v, has, relay = l.value, l.has, l.relay
	l.value, l.has, l.relay = zero, false, nil
	return v, has, relay
}

// callLeft calls the callbacks that the last round has left. The clock calls callLeft after the ring. Another round may
// be in progress, and callLeft shares nothing else with it.
func (c *Core[T]) callLeft() {
	switch v, has, relay := c.left.take(); {
	case has:
		executor.Here((*tasksOf[T])(c), v)
	case relay != nil:
		relay.Here()
	}
}

// passOn gives the callbacks that the last round has left to another goroutine, if they have not begun.
func (c *Core[T]) passOn() {
	switch v, has, relay := c.left.take(); {
	case has:
		c.submit(v)
	case relay != nil:
		relay.Go()
	}
}

// leave leaves the callbacks of the timers that were taken out last, or dispatches them. It leaves none if the
// goroutine is panicking or exiting.
func (r *round[T]) leave() {
	c := r.core
	switch {
	case len(c.due) == 0:
		return
	case !r.complete || c.left.afterRing == nil:
		r.dispatch()
		return
	case len(c.due) == 1:
		v := c.due[0]
		r.forget()
		c.inFlight.queue(1)
		c.left.put(v, nil)
	default:
		var none T
		c.left.put(none, c.newRelay(r.takeDue()))
	}
	c.left.afterRing()
}
