package compat

import (
	"hash/maphash"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Cache holds values for a limited time. All methods may be called concurrently.
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

// part is what keys of some hashes have to themselves, in a cache line of its own,
// so that two processors seldom wait for each other.
type part struct {
	flights flights
	hits    atomic.Uint64
	misses  atomic.Uint64
	_       [16]byte
}

func (c *Cache) part(key string) *part {
	return &c.parts[maphash.String(c.seed, key)%uint64(len(c.parts))]
}

// CacheOption says how a Cache works.
type CacheOption func(cache *Cache)

// WithLimit has the cache hold up to limit values: a further one drives out that
// which was not used for longest. 0 or less is no limit.
func WithLimit(limit int) CacheOption {
	return func(c *Cache) { c.store.recent = newRecency(limit) }
}

// WithName names the cache in what it logs; otherwise it is "proc".
func WithName(name string) CacheOption {
	return func(c *Cache) { c.name = name }
}

// WithLog has the cache log its hits and misses every minute, if there were any.
func WithLog(log *slog.Logger) CacheOption {
	return func(c *Cache) { c.log = log }
}

// WithClock has the cache take its time from c, which may be a mock. Nil is the
// default, clock.Precise().
func WithClock(c clock.Clock) CacheOption {
	return func(cache *Cache) {
		if !isNil(c) {
			cache.clock = c
		}
	}
}

const defaultName = "proc"

// NewCache makes a cache whose values expire after about expire: up to 5 % sooner
// or later. If it is 0 or less, they don't. A cache that is no longer needed
// should be closed.
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

// Get returns the value of key, and whether there is one.
func (c *Cache) Get(key string) (any, bool) {
	value, ok := c.store.get(key)
	c.part(key).count(ok)
	return value, ok
}

// Set sets the value of key, which expires when the cache's values do.
func (c *Cache) Set(key string, value any) { c.SetWithExpire(key, value, c.expire) }

// SetWithExpire sets the value of key, which expires after about expire, or not,
// if that is 0 or less.
func (c *Cache) SetWithExpire(key string, value any, expire time.Duration) {
	c.part(key).flights.disown(key, func() { c.store.set(key, value, around(expire)) })
}

// Del deletes the value of key, and what Take is fetching for it is not kept.
func (c *Cache) Del(key string) {
	c.part(key).flights.disown(key, func() { c.store.remove(key) })
}

// Take returns the value of key. If there is none it calls fetch, keeps what that
// returns, if it returns no error, and returns it. Concurrent calls for one key
// call one fetch between them. A value that is set or deleted while fetch runs
// wins: what is fetched is returned but not kept, as it may be older.
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
		p.flights.land(key, f, func() { c.store.set(key, value, around(c.expire)) })
		return value, nil
	})
	if err != nil {
		return nil, err
	}
	p.count(!fetched)
	return value, nil
}

// Len is the number of values.
func (c *Cache) Len() int { return c.store.len() }

// CacheStats is what happened to a Cache, and how many values it has.
type CacheStats struct {
	Hits, Misses uint64
	Elements     int
}

// Stats returns the counts since the cache was made.
func (c *Cache) Stats() CacheStats {
	st := CacheStats{Elements: c.Len()}
	for i := range c.parts {
		st.Hits += c.parts[i].hits.Load()
		st.Misses += c.parts[i].misses.Load()
	}
	return st
}

// Close ends the cache: its values are gone, and none is kept any more. Further
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
