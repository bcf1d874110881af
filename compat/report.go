package compat

import (
	"log/slog"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// reportEvery makes the cache log its hits and misses of each period, if there were any.
func (c *Cache) reportEvery(period time.Duration) (err error) {
	cfg := hierarchy.Config{Clock: c.clock, OnPanic: c.logPanicked}
	if c.report, err = hierarchy.New(cfg); err != nil {
		return err
	}
	var last CacheStats // figures at the last report; reports of one cache never overlap
	_, err = c.report.Every(period, func() {
		before, now := last, c.Stats()
		last = now // set before the call that logs, since that call may panic
		c.logSince(before, now)
	})
	return err
}

// logPanicked is called when the handler of c.log has panicked. The panic is in a
// goroutine of the cache, where the user can't recover it.
func (c *Cache) logPanicked(recovered any, stack []byte) {
	slog.Error("cache: its log panicked", "name", c.name, "panic", recovered, "stack", string(stack))
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
