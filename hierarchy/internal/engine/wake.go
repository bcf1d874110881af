package engine

import (
	"runtime"
)

// wake fires everything that is due and aims the alarm at the next deadline. The alarm calls wake, and never twice at
// the same time.
//
// Timers fire in order of deadline, with two exceptions. While a shard has a crowd to cascade or to move, timers that are
// due do not wait for the crowd. And a timer that is set during the round may have to wait until the turn of another
// shard ends. With Go, only the timers of the same shard fire in order.
func (c *Core[T]) wake() {
	c.inFlight.addRound()
	defer c.inFlight.removeRound()
	c.passOn()
	if r, ok := c.beginRound(); ok {
		defer r.end()
		for more := true; more; more = r.goOn() {
			r.popped = 0
			r.fireAll()
			if c.aim.note(r.popped); r.popped == 0 {
				c.lookAgain()
			}
		}
		r.complete = true
	}
}

// beginRound begins a round. ok is false if the wheel is closed.
func (c *Core[T]) beginRound() (r round[T], ok bool) {
	now := c.Now()
	return round[T]{core: c, now: now}, c.aim.begin(now)
}

// nearest returns a time before which no timer is due, or none if no timer waits for its deadline.
func (c *Core[T]) nearest() bound {
	nearest := none
	for _, s := range c.Shards {
		nearest = min(nearest, s.notBefore.load())
	}
	return nearest
}

// near returns about how many timers are due by the time until. It stops counting above most.
func (c *Core[T]) near(until int64, most int) (n int) {
	for _, s := range c.Shards {
		if n <= most && s.notBefore.load() <= bound(until) {
			n += s.near(until, most-n)
		}
	}
	return n
}

// near is Core.near for one shard.
func (s *Shard[T]) near(until int64, most int) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Timers == nil {
		return 0
	}
	return s.Timers.Near(until, most)
}

// A wheel stays awake for a wake-up that comes soon, since aiming the alarm at it would cost more.

const (
	// armCost is about how long, in nanoseconds, a processor takes to aim the alarm and to be woken by it.
	armCost = 4000
	// maxLooks is the most readings of the clock with which a wheel or a sleeper waits for a time. In a
	// testing/synctest bubble no time passes between readings.
	maxLooks = 128
	// maxStays is the most times that a wheel stays awake in one ring of the alarm. A clock may have one goroutine for
	// all its alarms, and the other alarms wait for it.
	maxStays = 8
)

// goOn waits for the next wake-up and begins it, if that wake-up comes within armCost. Otherwise goOn reports false.
// While it waits, it lets other goroutines run, if this round has woken or started any.
func (r *round[T]) goOn() bool {
	c := r.core
	if r.stays++; r.stays > maxStays {
		return false
	}
	for range maxLooks {
		if c.closed.Load() {
			return false
		}
		r.now = c.Now()
		away := c.aim.beginNext(c.nearest(), r.now)
		if away > armCost {
			return false
		}
		if r.dispatch(); away == 0 {
			return true
		}
		if !c.inline || r.woke {
			runtime.Gosched()
		}
	}
	return false
}
