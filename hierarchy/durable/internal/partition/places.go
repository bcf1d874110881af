package partition

import "time"

// Full reports whether all places have been taken for so long without one having been given back, and since when.
func (c *Crew) Full(long time.Duration) (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &c.running
	if c.free > 0 || r.last == nil || r.count-c.givenUp < c.size { // others are about to be called, or wait for the log
		return since, false
	}
	since = r.last.began
	return since, time.Since(since) >= long
}
