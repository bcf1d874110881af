package clock

import "time"

// Clock is what a wheel needs from time: to read it, and to be woken. All
// methods may be called concurrently. The clocks of this package are
// fmt.Stringers that say what is at work.
type Clock interface {
	// Now is wall-clock time. It may jump when the wall clock is set. Like Elapsed
	// it is asked for often: some tens of nanoseconds, without a lock, are right.
	Now() time.Time
	// Elapsed is monotonic time since the clock was made; it never goes back.
	Elapsed() time.Duration
	// NewAlarm makes an alarm that calls ring, in a goroutine of the clock's.
	NewAlarm(ring func()) Alarm
}

// Alarm rings once, at or after the elapsed time last aimed at. A ring already
// on its way when Set or Stop is called may still come: receivers read Elapsed
// again. Rings of one alarm never overlap.
type Alarm interface {
	// Set aims the alarm, also after Stop, at elapsed; if that is past, it
	// rings at once, but never inside the call. It may be called inside ring
	// and under a lock.
	Set(elapsed time.Duration)
	// Stop takes the aim away. It does not wait for a ring under way.
	Stop()
}

// IsMock tells whether c is a Mock, or embeds one.
func IsMock(c Clock) bool {
	_, ok := c.(interface{ isMock() })
	return ok
}

// Virtual tells whether c's time stands still between wake-ups, so that they are
// free and a wheel need not gather them: c is a Mock, wraps a mock, or has a
// method Virtual() bool that says so.
func Virtual(c Clock) bool {
	v, ok := c.(interface{ Virtual() bool })
	return ok && v.Virtual() || IsMock(c)
}
