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
// from the fetch function of Take.
type Cache struct {
	name   string
	expire time.Duration
	clock  clock.Clock
	log    *slog.Logger
	report *hierarchy.Wheel // nil if log is nil

	store store
	seed  maphash.Seed
	parts [64]part // indexed by hash of key
}

// part has the counters and fetches of the keys with certain hashes. Each part fills a
// cache line, so two processors rarely write to the same line.
type part struct {
	flights flights
	hits    atomic.Uint64
	misses  atomic.Uint64
	_       [32]byte // fills the cache line on 64-bit systems
}

func (c *Cache) part(key string) *part {
	requireMade(c.store.wheel != nil, "Cache")
	return &c.parts[maphash.String(c.seed, key)%uint64(len(c.parts))]
}

// CacheOption is an option of NewCache.
type CacheOption func(cache *Cache)

// WithLimit limits the cache to limit values: setting one more removes the least recently used value. There is no limit
// if limit is 0 or less.
func WithLimit(limit int) CacheOption {
	return func(c *Cache) { c.store.recent = newRecency(limit) }
}

// WithName sets the name under which the cache logs, by default "proc".
func WithName(name string) CacheOption {
	return func(c *Cache) { c.name = name }
}

// WithLog makes the cache log its hits and misses to log every minute, if there were
// any. If the handler of log panics, the panic is recovered and logged to
// slog.Default().
func WithLog(log *slog.Logger) CacheOption {
	return func(c *Cache) { c.log = log }
}

// WithClock sets the clock of the cache, which may be a *clock.Mock. The default, also for a nil c, is clock.Precise().
func WithClock(c clock.Clock) CacheOption {
	return func(cache *Cache) {
		if !isNil(c) {
			cache.clock = c
		}
	}
}

const defaultName = "proc"

// NewCache makes a cache whose values expire after expire, up to 5 % sooner or later.
// They do not expire if expire is 0 or less. Call Close when the cache is no longer
// needed. The error is ErrArgument if an option is nil.
func NewCache(expire time.Duration, opts ...CacheOption) (*Cache, error) {
	c := &Cache{name: defaultName, expire: expire, seed: maphash.MakeSeed()}
	for _, opt := range opts {
		if opt == nil {
			return nil, ErrArgument
		}
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

// Get returns the value of key. The bool is false if key has no value.
func (c *Cache) Get(key string) (any, bool) {
	p := c.part(key)
	value, ok := c.store.get(key)
	p.count(ok)
	return value, ok
}

// Set sets the value of key, which expires after the time given to NewCache.
func (c *Cache) Set(key string, value any) { c.SetWithExpire(key, value, c.expire) }

// SetWithExpire sets the value of key, which expires after expire, up to 5 % sooner or
// later. It does not expire if expire is 0 or less.
func (c *Cache) SetWithExpire(key string, value any, expire time.Duration) {
	c.part(key).flights.forget(key, func() { c.store.set(key, value, withJitter(expire)) })
}

// Del deletes the value of key. If a Take is fetching a value for key, that value is
// not kept.
func (c *Cache) Del(key string) {
	c.part(key).flights.forget(key, func() { c.store.remove(key) })
}

// Take returns the value of key. If key has no value, Take calls fetch in the caller's
// goroutine, with no lock held, and returns what fetch returns. If fetch returns no
// error, the value is kept, as by Set.
//
// Other calls of Take for the same key wait while fetch runs, and return the same value
// and error. If key is set or deleted while fetch runs, the fetched value may be older
// than that change: Take returns it but does not keep it, and later calls do not wait
// for that fetch.
//
// If fetch panics, Take panics in the goroutine that called fetch. If fetch calls
// runtime.Goexit, that goroutine ends. In both cases the calls that wait return an
// error, and the next call of Take calls its own fetch. A fetch that calls Take for its
// own key deadlocks. If key has no value and fetch is nil, Take returns ErrArgument.
func (c *Cache) Take(key string, fetch func() (any, error)) (any, error) {
	p := c.part(key)
	if value, ok := c.store.get(key); ok {
		p.count(true)
		return value, nil
	}
	if fetch == nil {
		return nil, ErrArgument
	}
	fetched := false
	value, err := p.flights.do(key, func(f *flight) (any, error) {
		if value, ok := c.store.get(key); ok {
			return value, nil // the value was stored after the first lookup
		}
		value, err := fetch()
		if err != nil {
			return nil, err
		}
		fetched = true
		p.flights.finish(key, f, func() { c.store.set(key, value, withJitter(c.expire)) })
		return value, nil
	})
	if err != nil {
		return nil, err
	}
	p.count(!fetched)
	return value, nil
}

// Len returns the number of values.
func (c *Cache) Len() int {
	requireMade(c.store.wheel != nil, "Cache")
	return c.store.len()
}

// CacheStats has the counters of a Cache. A Get or Take counts as a hit if the cache had
// the value or another call fetched it, and otherwise as a miss. A Take that returns an
// error is not counted.
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

// Close removes all values. After Close the cache keeps no values: Get finds nothing,
// and each Take fetches. Close does not wait for a report that is being logged. Further
// calls do nothing.
func (c *Cache) Close() {
	requireMade(c.store.wheel != nil, "Cache")
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
