package partition

import (
	"time"
)

// Crew limits how many handlers run at once, over all partitions of a process. NewCrew makes one.
type Crew struct {
	mu      mutex
	free    int
	waiting []*Partition // with timers that are due, in the order in which they came
	skew    int64        // of the wall clock, when it was last said
	size    int
	running running
	watched bool // look will be called
}

// leastJump is how far the wall clock must have been set to be told. Less is drift.
const leastJump = int64(time.Second)

// jumped tells by how much the wall clock was set, or 0. Of several partitions, one is told.
func (c *Crew) jumped(skew int64) (by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by = skew - c.skew; -leastJump < by && by < leastJump {
		return 0
	}
	c.skew = skew
	return by
}

// NewCrew is a Crew for n handlers at once.
func NewCrew(n int) *Crew { return &Crew{free: n, size: n} }

// take takes a place. If there is none it is false, and p fires when there is.
func (c *Crew) take(p *Partition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 {
		c.free--
		return true
	}
	for _, w := range c.waiting {
		if w == p {
			return false
		}
	}
	c.waiting = append(c.waiting, p)
	c.watch(stuckAfter)
	return false
}

// give gives a place back, and has the partition fire that has waited longest. If that one does
// not need the place any more, the next one may.
func (c *Crew) give() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free++
	for c.free > 0 && len(c.waiting) > 0 {
		p := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
		p.fireOrAim()
		c.mu.Lock()
	}
}
