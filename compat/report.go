package compat

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// reportEvery has the cache log what happened in each period, if anything did.
func (c *Cache) reportEvery(period time.Duration) (err error) {
	if c.report, err = hierarchy.New(hierarchy.Config{Clock: c.clock}); err != nil {
		return err
	}
	var before CacheStats
	_, err = c.report.Every(period, func() {
		now := c.Stats()
		c.logSince(before, now)
		before = now
	})
	return err
}

func (c *Cache) logSince(before, now CacheStats) {
	hits, misses := now.Hits-before.Hits, now.Misses-before.Misses
	if hits+misses == 0 {
		return
	}
	c.log.Info("cache", "name", c.name, "requests", hits+misses,
		"hit_ratio", float64(hits)/float64(hits+misses),
		"elements", now.Elements, "hits", hits, "misses", misses)
}
