// Package stepped has the interfaces through which a clock.Mock and the wheels on it use each other.
package stepped

import "time"

// Wheel is the interface of a wheel to a Mock.
type Wheel interface {
	// Nearest returns the exact earliest deadline and, if it has passed, the order of its timer, otherwise 0. ok is
	// false if nothing is pending. Unless the wheel is being stepped, its alarm is aimed at exactly that deadline, or
	// stopped, when Nearest returns.
	Nearest() (deadline time.Duration, order uint64, ok bool)
	// Step fires the earliest timer if it is due, and after it all other timers
	// with the same deadline whose order is below limit.
	Step(limit uint64)
	// Settle waits until every task dispatched to an executor has returned. It reports whether there was any task since
	// the last Settle.
	Settle() bool
	// Len returns the number of pending timers.
	Len() int
}

// Alarm is the interface of a Mock's alarm, which is also a clock.Alarm, to a wheel.
type Alarm interface {
	// Attach makes the Mock step w from now on instead of ringing the alarm. It must be
	// called before the first Set.
	Attach(w Wheel)
	// Detach undoes Attach and stops the alarm. A wheel calls it when it is closed.
	Detach()
	// NextOrder returns the order of a timer that is being set: its place among all timers that are set on this Mock.
	// It takes no lock. A call of Noted must follow.
	NextOrder() uint64
	// Noted records that the timer of a NextOrder call is set and the alarm is aimed at it.
	Noted()
	// Run calls f as a callback of this Mock: inside f, moving the Mock panics. If the move
	// that f belongs to has already ended, by a panic of another callback, Run only calls f.
	Run(f func())
}
