package compat

import (
	"hash/maphash"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Cache keeps values for a limited time. All methods may be called concurrently, also
// inside a fetch of Take.
type Cache struct {
	name   string
	expire time.Duration
	clock  clock.Clock
	log    *slog.Logger
	report *hierarchy.Wheel // nil without a log

	store store
	seed  maphash.Seed
	parts [64]part // by hash of key
}

// part has the counters and fetches of the keys with certain hashes. Each part fills a
// cache line, so that two processors seldom wait for each other.
type part struct {
	flights flights
	hits    atomic.Uint64
	misses  atomic.Uint64
	_       [32]byte // to fill the cache line, on 64 bits
}

func (c *Cache) part(key string) *part {
	return &c.parts[maphash.String(c.seed, key)%uint64(len(c.parts))]
}

// CacheOption is an option of NewCache.
type CacheOption func(cache *Cache)

// WithLimit limits the cache to that many values: a further one replaces the least
// recently used. There is no limit if limit is 0 or less.
func WithLimit(limit int) CacheOption {
	return func(c *Cache) { c.store.recent = newRecency(limit) }
}

// WithName sets the name under which the cache logs, by default "proc".
func WithName(name string) CacheOption {
	return func(c *Cache) { c.name = name }
}

// WithLog has the cache log its hits and misses every minute, if there were any. If
// the handler of log panics, the panic is recovered and logged with package log/slog.
func WithLog(log *slog.Logger) CacheOption {
	return func(c *Cache) { c.log = log }
}

// WithClock sets the clock of the cache, which may be a *clock.Mock. The default, also
// if c is nil, is clock.Precise().
func WithClock(c clock.Clock) CacheOption {
	return func(cache *Cache) {
		if !isNil(c) {
			cache.clock = c
		}
	}
}

const defaultName = "proc"

// NewCache makes a cache whose values expire after expire, up to 5 % sooner or later.
// They do not expire if it is 0 or less. Close a cache that is no longer needed.
func NewCache(expire time.Duration, opts ...CacheOption) (*Cache, error) {
	c := &Cache{name: defaultName, expire: expire, seed: maphash.MakeSeed()}
	for _, opt := range opts {
		opt(c)
	}
	if c.name == "" {
		c.name = defaultName
	}
	cfg := hierarchy.Config{Clock: c.clock, Executor: hierarchy.Inline}
	var err error
	if c.store.wheel, err = hierarchy.NewKeyed(cfg, c.store.expired); err != nil {
		return nil, err
	}
	if c.log != nil {
		err = c.reportEvery(time.Minute)
	}
	return c, err
}

// Get returns the value of key. The bool is false if there is none.
func (c *Cache) Get(key string) (any, bool) {
	value, ok := c.store.get(key)
	c.part(key).count(ok)
	return value, ok
}

// Set sets the value of key, which expires after the time given to NewCache.
func (c *Cache) Set(key string, value any) { c.SetWithExpire(key, value, c.expire) }

// SetWithExpire sets the value of key, which expires after expire, up to 5 % sooner or
// later. It does not expire if expire is 0 or less.
func (c *Cache) SetWithExpire(key string, value any, expire time.Duration) {
	c.part(key).flights.disown(key, func() { c.store.set(key, value, around(expire)) })
}

// Del deletes the value of key. What a Take is fetching for key meanwhile is not kept.
func (c *Cache) Del(key string) {
	c.part(key).flights.disown(key, func() { c.store.remove(key) })
}

// Take returns the value of key. If there is none, it calls fetch, in the caller's
// goroutine and without a lock held, and returns what fetch returns. If that is no
// error, the value is kept, as by Set.
//
// Calls that come while fetch runs for the same key wait for it and return the same. If
// key is set or deleted meanwhile, what was fetched may be older than that: it is
// returned, but not kept, and later calls do not wait for it.
//
// If fetch panics, its caller gets the panic, and if it calls runtime.Goexit, that
// goroutine ends. In both cases, calls that wait return an error, and the next one
// calls its own fetch. A fetch that calls Take for its own key waits for itself.
func (c *Cache) Take(key string, fetch func() (any, error)) (any, error) {
	p := c.part(key)
	if value, ok := c.store.get(key); ok {
		p.count(true)
		return value, nil
	}
	fetched := false
	value, err := p.flights.do(key, func(f *flight) (any, error) {
		if value, ok := c.store.get(key); ok {
			return value, nil // somebody was faster
		}
		value, err := fetch()
		if err != nil {
			return nil, err
		}
		fetched = true
		p.flights.finish(key, f, func() { c.store.set(key, value, around(c.expire)) })
		return value, nil
	})
	if err != nil {
		return nil, err
	}
	p.count(!fetched)
	return value, nil
}

// Len returns the number of values.
func (c *Cache) Len() int { return c.store.len() }

// CacheStats has the counters of a Cache. A Get or Take counts as a hit if the value was
// there or another call fetched it, otherwise as a miss. A Take that returns an error
// does not count.
type CacheStats struct {
	Hits, Misses uint64
	Elements     int // values in the cache now
}

// Stats returns the hits and misses since the cache was made, and the number of values.
func (c *Cache) Stats() CacheStats {
	st := CacheStats{Elements: c.Len()}
	for i := range c.parts {
		st.Hits += c.parts[i].hits.Load()
		st.Misses += c.parts[i].misses.Load()
	}
	return st
}

// Close removes all values. From then on nothing is kept: Get finds nothing, and each
// Take fetches. It does not wait for a report that is just being logged. Further
// calls do nothing.
func (c *Cache) Close() {
	c.store.wheel.Stop()
	if c.report != nil {
		c.report.Stop()
	}
}

func (p *part) count(hit bool) {
	if hit {
		p.hits.Add(1)
	} else {
		p.misses.Add(1)
	}
}
