// Package wheelctx provides contexts whose deadlines are on a wheel. docs/design.md explains their design, and
// package hierarchy documents what they promise.
package wheelctx

import "time"

// Wheel is what contexts need from a wheel. Times are elapsed times of its clock.
type Wheel interface {
	// Add sets a timer that calls f in the goroutine that wakes the wheel, or when the wheel is stopped, if that comes
	// first. If crowded is true, the timer must not stay on the wheel when the parent of its context has ended.
	Add(f func(), now, due int64) (t Timer, crowded bool, err error)
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

// Timer identifies a timer of a Wheel.
type Timer struct {
	Generation   uint64
	Index, Shard uint32
}
