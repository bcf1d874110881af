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
	waiting []*firer  // firers that wait for a place, with timers that are due; first come, first served
	skew    int64     // by how much the wall clock had been set when a jump was last logged
	size    int
	running list.List // the attempts whose handlers have been called, in this order
	givenUp int       // how many of the handlers that run belong to attempts that were given up
	watched bool      // a call of look is scheduled
	limits  limits    // immutable once the Crew is used
}

// leastJump is the smallest change of the wall clock that is logged as a jump. Smaller changes are drift.
const leastJump = int64(time.Second)

// jumped returns by how much the wall clock was set, or 0. It returns each jump only once, to whichever partition asks
// first.
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

// take takes a place, and reports whether one was free. If none was free, give makes f fire when one is.
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

// give releases a place, and makes the firer that has waited longest fire. If that firer does not need the place any
// more, the next one may take it.
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

// Full reports whether all places have been taken for at least the time long, without a release, and since when.
func (c *Crew) Full(long time.Duration) (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 {
		return since, false
	}
	return c.full, time.Since(c.full) >= long
}

// The following code notices that handlers hang.

const (
	stuckAfter = 10 * time.Second // the time without a released place after which handlers seem to hang
	stuckTell  = time.Minute      // the pause between two warnings
)

// entered records that the handler of an attempt is about to be called.
func (c *Crew) entered(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.began, a.running = time.Now(), c.running.PushBack(a)
}

// returned records that the handler has returned.
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

// look logs a warning if all places have been taken for long while timers wait.
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
			"handlers", c.size, "for", c.Oldest(), "key", first.Firing.Key)
	}
}

// stuck returns the attempt that began first, if all places have been taken for long. While timers wait, it schedules
// the next call of look.
func (c *Crew) stuck(waits bool) *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched = false; !waits {
		return nil
	}
	if c.running.Len()-c.givenUp < c.size { // others are about to call handlers, or wait for the log, which is logged
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
