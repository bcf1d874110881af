package partition

import (
	"container/list"
	"slices"
	"time"
)

// Crew limits how many handlers run at once, over all partitions of a process. NewCrew makes one.
type Crew struct {
	mu      mutex
	free    int
	full    time.Time // when the last free place was taken
	waiting []*firer  // with timers that are due, in the order in which they came
	skew    int64     // of the wall clock, when a jump was last logged
	size    int
	running list.List // the attempts whose handlers have been called, in this order
	givenUp int       // of the handlers that run, those whose attempts were given up
	watched bool      // look will be called
	limits  limits    // immutable once the Crew is used
}

// leastJump is how far the wall clock must have been set for a warning. Less is drift.
const leastJump = int64(time.Second)

// jumped returns by how much the wall clock was set, or 0. Each jump is returned to one of the partitions.
func (c *Crew) jumped(skew int64) (by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by = skew - c.skew; -leastJump < by && by < leastJump {
		return 0
	}
	c.skew = skew
	return by
}

// NewCrew returns a Crew for n handlers at once.
func NewCrew(n int) *Crew { return &Crew{free: n, size: n} }

// take takes a place, and reports whether there was one. If not, f fires when there is.
func (c *Crew) take(f *firer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 {
		if c.free--; c.free == 0 {
			c.full = time.Now()
		}
		return true
	}
	if !slices.Contains(c.waiting, f) {
		c.waiting = append(c.waiting, f)
		c.watch(stuckAfter)
	}
	return false
}

// give gives a place back, and lets the partition fire that has waited longest. If that one does
// not need the place any more, the next one may.
func (c *Crew) give() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free++
	for c.free > 0 && len(c.waiting) > 0 {
		f := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
		f.fire()
		c.mu.Lock()
	}
}

// Full reports whether all places have been taken for so long without one having been given back, and since when.
func (c *Crew) Full(long time.Duration) (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 {
		return since, false
	}
	return c.full, time.Since(c.full) >= long
}

// How a Crew notices that handlers hang.

const (
	stuckAfter = 10 * time.Second // without a place that was given back, while timers wait for one
	stuckTell  = time.Minute      // between two warnings
)

// entered notes that the handler of an attempt is about to be called.
func (c *Crew) entered(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.began, a.running = time.Now(), c.running.PushBack(a)
}

// returned notes that it has returned.
func (c *Crew) returned(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running.Remove(a.running)
}

// Oldest returns for how long the oldest of the running handlers has been running.
func (c *Crew) Oldest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running.Len() == 0 {
		return 0
	}
	return time.Since(c.running.Front().Value.(*attempt).began)
}

// watch schedules a call of look, unless one is scheduled.
func (c *Crew) watch(after time.Duration) {
	if !c.watched {
		c.watched = true
		time.AfterFunc(after, c.look)
	}
}

// look warns if all places have been taken for long, and timers wait.
func (c *Crew) look() {
	c.mu.Lock()
	waiting := slices.Clone(c.waiting)
	c.mu.Unlock()
	waiting = slices.DeleteFunc(waiting, func(f *firer) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.stopped
	})
	if first := c.stuck(len(waiting) > 0); first != nil {
		waiting[0].cfg.Logger.Warn("durable: handlers hang, and timers that are due wait for one to return",
			"handlers", c.size, "for", c.Oldest(), "key", first.firing.Key)
	}
}

// stuck returns the attempt that began first, if all places have been taken for long. It schedules look again
// as long as timers wait.
func (c *Crew) stuck(waits bool) *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched = false; !waits {
		return nil
	}
	if c.running.Len()-c.givenUp < c.size { // others are about to be called, or wait for the log, and that is logged
		c.watch(stuckAfter)
		return nil
	}
	if left := stuckAfter - time.Since(c.running.Back().Value.(*attempt).began); left > 0 {
		c.watch(left)
		return nil
	}
	c.watch(stuckTell)
	return c.running.Front().Value.(*attempt)
}
