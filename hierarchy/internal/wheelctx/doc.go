// Package wheelctx provides contexts whose deadlines are on a wheel. docs/design.md explains their design, and
// package hierarchy documents what they promise.
package wheelctx

import "time"

// Wheel is what contexts need of a wheel. Times are in its clock's elapsed time.
type Wheel interface {
	// Add sets a timer that calls f in the goroutine that wakes the wheel, also if the wheel is
	// stopped before.
	Add(f func(), now, due int64) (Timer, error)
	// Stop reports whether the timer was pending.
	Stop(t Timer) bool
	// Passed reports whether due has come, and needs no timer. It was now a moment ago.
	Passed(now, due int64) bool
	// Stopped is how contexts end once the wheel is stopped, and nil before.
	Stopped() *Outcome
	// Elapsed is the elapsed time.
	Elapsed() int64
	// Now is the wall time.
	Now() time.Time
}

// Timer names a timer of a Wheel. The zero Timer names none.
type Timer struct {
	Generation   uint64
	Index, Shard uint32
}
