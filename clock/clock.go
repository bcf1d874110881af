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
// Alarms may do more: see Reviewer, Continuer, CoarseSetter and MockAlarm.
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
