// Package wheelctx provides contexts whose deadlines are on a wheel. docs/design.md explains their design, and
// package hierarchy documents what they promise.
package wheelctx

import "time"

// Wheel is what contexts need from a wheel. Times are elapsed times of its clock.
type Wheel interface {
	// Add sets a timer that calls f in the goroutine that wakes the wheel, or when the wheel is stopped, if that comes
	// first.
	Add(f func(), now, due int64) (Timer, error)
	// Stop stops a timer, and reports whether it was pending.
	Stop(t Timer) bool
	// Passed reports whether due has passed, so that no timer is needed. now is a recent reading of the clock.
	Passed(now, due int64) bool
	// Stopped returns the outcome of contexts once the wheel is stopped, and nil before.
	Stopped() *Outcome
	// Elapsed returns the elapsed time.
	Elapsed() int64
	// Now returns the wall time.
	Now() time.Time
}

// Timer identifies a timer of a Wheel. The zero Timer identifies none.
type Timer struct {
	Generation   uint64
	Index, Shard uint32
}
