package hierarchy

import "runtime"

// A wheel stays awake for a wake-up that comes soon. To aim the alarm at it would cost more.

const (
	// armCost is about how long a processor takes to aim the alarm and to wake up by it, in
	// nanoseconds.
	armCost = 4000
	// maxLooks is how often a wheel or a sleeper looks whether so much time has passed. In a
	// testing/synctest bubble none passes.
	maxLooks = 128
	// maxStays is how often a wheel stays awake in one ring of the alarm. A clock may have one
	// goroutine for all its alarms.
	maxStays = 8
)

// goOn waits for the next wake-up, and begins it, if that comes within armCost. Otherwise it is
// false. Meanwhile other goroutines run, if this round has given them something to do.
func (r *round[T]) goOn() bool {
	c := r.core
	r.dispatch()
	if r.stays++; r.stays > maxStays {
		return false
	}
	for range maxLooks {
		if c.closed.Load() {
			return false
		}
		r.now = c.now()
		if away := c.aim.beginNext(c.nearest(), r.now); away == 0 || away > armCost {
			return away == 0
		}
		if !c.inline || r.woke {
			runtime.Gosched()
		}
	}
	return false
}
