package clock

import "time"

// The interfaces here are what a Clock or its alarms may implement in addition. Whoever uses a clock looks for them, and
// does without what is missing.

// Reader is a Clock that can be read once for both of its times, which costs less than reading it twice.
type Reader interface {
	Reading() (wall time.Time, elapsed time.Duration)
}

// Reviewer is an Alarm that has to prepare for a ring. Its owner need not change the alarm when it does not need the
// ring any more: before Set it passes a function to Review, once. The clock calls that function some time before a
// ring, and it calls Set or Stop if the ring is not needed.
type Reviewer interface{ Review(func()) }

// Continuer is an Alarm whose rings may leave to their goroutine what can take long, as a callback can. Then may be
// called inside a ring. When the ring has returned, its goroutine calls the function that was passed last, once, even if
// the alarm was stopped. From then on, the next ring does not wait for that goroutine, nor does another alarm: the
// function may block, panic or exit the goroutine. If the alarm rings again before, the function may be called after
// that ring.
type Continuer interface{ Then(func()) }

// CoarseSetter is an Alarm that wakes the process at less cost if the ring may be as late as a timer of package time.
// SetCoarse is Set for such a ring.
type CoarseSetter interface{ SetCoarse(elapsed time.Duration) }

// MockAlarm is an alarm of a Mock. The first two methods are for all owners, the others for wheels.
type MockAlarm interface {
	Alarm
	// OnJump registers f to be called after each Jump, in the goroutine that calls Jump: an owner that uses the wall
	// clock can set its alarm anew. f replaces the function of an earlier call; nil removes that.
	OnJump(f func())
	// Run calls f as a callback of this Mock: inside f, moving the Mock panics. If the move that f belongs to has
	// already ended, by a panic of another callback, Run only calls f.
	Run(f func())

	// Attach makes the Mock step w from now on instead of ringing the alarm. It must be called before the first Set.
	Attach(w MockWheel)
	// Detach undoes Attach and stops the alarm. A wheel calls it when it is closed.
	Detach()
	// NextOrder returns the order of a timer that is being set: its place among all timers that are set on this Mock.
	// It takes no lock. A call of Noted must follow.
	NextOrder() uint64
	// Noted records that the timer of a NextOrder call is set and the alarm is aimed at it.
	Noted()
}

// MockWheel is what a Mock needs of a wheel that it steps.
type MockWheel interface {
	// Nearest returns the exact earliest deadline and, if it has passed, the order of its timer, otherwise 0. ok is
	// false if nothing is pending. Unless the wheel is being stepped, its alarm is aimed at exactly that deadline, or
	// stopped, when Nearest returns.
	Nearest() (deadline time.Duration, order uint64, ok bool)
	// Step fires the earliest timer if it is due, and after it all other timers with the same deadline whose order is
	// below limit.
	Step(limit uint64)
	// Settle waits until every task dispatched to an executor has returned. It reports whether there was any task since
	// the last Settle.
	Settle() bool
	// Len returns the number of pending timers.
	Len() int
}
