package engine

import (
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// A wake-up at an exact time costs more than one at about that time: the process sleeps in whole milliseconds, so
// something else has to wake it in between, once more. So if Precision is not set, the alarm is coarse while the wheel
// gathers timers, and wakes the process once. In an idle process it is late by little, as the millisecond begins when the
// last wake-up ends. Where the process wakes for other reasons, too, a coarse alarm may be late by another millisecond.
// The wheel notices that, and does without.

// ring is how an alarm is set, exactly or coarsely.
type ring struct {
	alarm     clock.Alarm
	setCoarse func(at time.Duration) // immutable; nil if the alarm cannot be coarse, or would be too late
	coarse    bool                   // whether the alarm was set coarsely
	exact     int                    // number of rings that are exact although they might be coarse
}

const (
	// leastCoarse is the least Precision with which an alarm may be coarse.
	leastCoarse = time.Millisecond
	// coarseLate is by how many nanoseconds a coarse alarm may be late. In an idle process it is later by what the
	// wake-up before it took, and by the latency of the alarm.
	coarseLate = 250_000
	// exactAfterLate is the number of rings that are exact after a coarse one that was later than that.
	exactAfterLate = 8
)

// init prepares r. few is the largest number of timers that are not gathered, or 0 if Precision is set.
func (r *ring) init(alarm clock.Alarm, precision time.Duration, few int) {
	r.alarm = alarm
	if a, ok := alarm.(clock.CoarseSetter); ok && few > 0 && precision >= leastCoarse {
		r.setCoarse = a.SetCoarse
	}
}

// set sets the alarm. gathers tells whether the wheel gathers timers for it.
func (r *ring) set(at time.Duration, gathers bool) {
	if r.coarse = gathers && r.setCoarse != nil && r.exact == 0; r.coarse {
		r.setCoarse(at)
	} else {
		r.alarm.Set(at)
	}
}

// rang notes that the alarm has rung, late nanoseconds after its time. It reports whether the alarm was coarse. Then the
// next Precision begins now: if it began at the time to which the alarm was set, the next ring would be as late again.
func (r *ring) rang(late int64) (coarse bool) {
	switch {
	case !r.coarse:
		r.exact = max(0, r.exact-1)
	case late > coarseLate:
		r.exact = exactAfterLate
	}
	return r.coarse
}
