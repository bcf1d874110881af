package partition

import "time"

// Full reports whether all places have been taken for so long without one having been given back, and since when.
func (c *Crew) Full(long time.Duration) (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 {
		return since, false
	}
	since = c.full
	return since, time.Since(since) >= long
}
