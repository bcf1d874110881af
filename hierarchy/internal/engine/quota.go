package engine

import "sync/atomic"

// quota counts the timers of a wheel with a limit. Without a limit it counts nothing, as a counter that all processors
// write to is expensive.
type quota struct {
	limit int64        // immutable; 0: no limit
	used  atomic.Int64 // places taken by timers, and by each Owned that keeps its place; 0 without a limit
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

// queueFull reports whether MaxQueued callbacks wait in the executor.
func (c *Core[T]) queueFull() bool {
	if c.maxQueued == 0 {
		return false
	}
	queued, _ := c.inFlight.count()
	return queued >= c.maxQueued
}
