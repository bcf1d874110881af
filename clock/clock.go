package clock

import "time"

// Clock provides the time to a wheel and wakes it. All methods may be called concurrently. The clocks of this package
// are fmt.Stringers: String names the mechanism in use.
type Clock interface {
	// Now returns the wall-clock time. It may jump when the wall clock is set. Now and
	// Elapsed are called often. They should take some tens of nanoseconds and no lock.
	Now() time.Time
	// Elapsed returns the monotonic time since the clock was made. It never goes back.
	Elapsed() time.Duration
	// NewAlarm returns an alarm that calls ring in a goroutine of the clock.
	NewAlarm(ring func()) Alarm
}

// Alarm rings once, at or after the elapsed time passed to the last Set. A ring that is in progress when Set or Stop is
// called may still arrive, so the ring function should read Elapsed again. Rings of one alarm never overlap.
//
// A wheel does not change its alarm when it stops a timer. If a clock has to prepare for a ring, its alarms may have a
// method Review(func()). The wheel calls it once, before Set. The clock calls the function that was passed to it some
// time before a ring, and the wheel then calls Set or Stop if it does not need that ring any more.
//
// A ring may leave to its goroutine what can take long, as a callback can. For this, the alarms of a clock may have a
// method Then(func()), which the wheel may call inside ring. When ring has returned, its goroutine calls the function
// that was passed last, once, even if the alarm was stopped. From then on, the next ring must not wait for that
// goroutine, nor must another alarm: the function may block, panic or exit the goroutine. If ring is called again
// before, the function may be called after that ring.
//
// If a clock can wake the process at less cost when a ring may be as late as a timer of package time, its alarms may have
// a method SetCoarse(time.Duration), which is Set for such a ring.
//
// The alarms of a Mock have two more methods, for owners other than wheels. OnJump(func()) registers a function to be
// called after each Jump, in which an owner that uses the wall clock can set its alarm anew. Run(func()) calls a
// function as a callback of the Mock, inside which moving the Mock panics.
type Alarm interface {
	// Set aims the alarm at elapsed. If that time has passed, the alarm rings at once, but never inside the call. Set
	// may be called after Stop, inside ring, and under a lock.
	Set(elapsed time.Duration)
	// Stop removes the aim. It does not wait for a ring in progress.
	Stop()
}

// IsMock reports whether c is a Mock, or embeds one.
func IsMock(c Clock) bool {
	_, ok := c.(interface{ isMock() })
	return ok
}

// Virtual reports whether c's time stands still between wake-ups. Wake-ups are free on such a clock, and a wheel need
// not gather them. Virtual returns true if c is a Mock, wraps a benbjohnson Mock, or has a method Virtual() bool that
// returns true.
func Virtual(c Clock) bool {
	v, ok := c.(interface{ Virtual() bool })
	return ok && v.Virtual() || IsMock(c)
}
