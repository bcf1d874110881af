package hierarchy

// wake fires all that is due and aims the alarm at what comes next. The alarm calls it, and
// never twice at the same time.
//
// Timers fire in order of deadline, with two exceptions. While a shard has a crowd to deal
// or to move, timers that are due do not wait for it. And a timer that is set during the
// round may have to wait until the turn of another shard ends. With Go, only those of one
// shard fire in order.
func (c *core[T]) wake() {
	c.inFlight.addRound()
	defer c.inFlight.removeRound()
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

// beginRound is false if the wheel is closed.
func (c *core[T]) beginRound() (r round[T], ok bool) {
	now := c.now()
	return round[T]{core: c, now: now}, c.aim.begin(now)
}

// nearest is a time before which no timer is due, or none if none waits for its deadline.
func (c *core[T]) nearest() bound {
	nearest := none
	for _, s := range c.shards {
		nearest = min(nearest, s.notBefore.load())
	}
	return nearest
}

// near is about how many timers are due by that time. It stops counting above most.
func (c *core[T]) near(until int64, most int) (n int) {
	for _, s := range c.shards {
		if n <= most && s.notBefore.load() <= bound(until) {
			n += s.near(until, most-n)
		}
	}
	return n
}

// near is near of s.
func (s *shard[T]) near(until int64, most int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timers == nil {
		return 0
	}
	return s.timers.Near(until, most)
}
