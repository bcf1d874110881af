package partition

import "time"

// Full reports whether all places have been taken for so long without one having been given back, and since when.
func (c *Crew) Full(long time.Duration) (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 || c.running.last == nil {
		return since, false
	}
	since = c.running.last.began
	return since, time.Since(since) >= long
}
