package engine

import (
	"sync/atomic"

	"github.com/epicycle-go/epicycle/level/arena"
)

// quota counts the timers of a wheel with a limit. Without a limit it counts nothing, as a counter that all processors
// write to is expensive.
type quota struct {
	limit int64        // immutable; 0: no limit
	used  atomic.Int64 // places taken by timers, and by the owners of timers that have one; 0 without a limit
}

// acquire takes a place, if one is free.
func (q *quota) acquire() bool {
	if q.limit == 0 {
		return true
	}
	for {
		n := q.used.Load()
		if n >= q.limit {
			return false
		}
		if q.used.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// force takes a place, even if none is free.
func (q *quota) force() {
	if q.limit != 0 {
		q.used.Add(1)
	}
}

// release gives places back.
func (q *quota) release(n int) {
	if q.limit != 0 {
		q.used.Add(int64(-n))
	}
}

// takesPlace reports whether a timer with the flags f has a place of its own.
func takesPlace(f arena.Flags) bool { return f&(IsOwned|HasPlace) != IsOwned }

// Admit takes a place for a timer that has an owner, with the flags f. It returns ErrClosed or ErrFull if the wheel may not
// take the timer. The owner gives the place back.
func (c *Core[T]) Admit(f arena.Flags) error {
	switch {
	case c.Closed():
		return ErrClosed
	case f&RunInWake == 0 && c.queueFull(), !c.quota.acquire():
		return ErrFull
	}
	return nil
}

// Force takes a place even if none is free.
func (c *Core[T]) Force() { c.quota.force() }

// GiveBack gives a place back.
func (c *Core[T]) GiveBack() { c.quota.release(1) }

// Limited reports whether the number of pending timers is limited.
func (c *Core[T]) Limited() bool { return c.quota.limit > 0 }

// queueFull reports whether MaxQueued callbacks wait in the executor.
func (c *Core[T]) queueFull() bool {
	if c.maxQueued == 0 {
		return false
	}
	queued, _ := c.inFlight.count()
	return queued >= c.maxQueued
}
