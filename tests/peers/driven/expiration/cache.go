package expiration

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Cache is the least that a cache with a lifetime for each entry needs: a map, a lock and a Wheel. Unlike a cache of
// otter, it has no maximum size, and all callers take one lock.
type Cache[K comparable, V any] struct {
	now      func() int64
	onExpire func(key K, value V)

	mu      sync.Mutex
	entries map[K]*entry[K, V] // guarded by mu
	wheel   *Wheel[*entry[K, V]]
}

type entry[K comparable, V any] struct {
	key       K
	value     V
	expiresAt int64
	removed   bool
	timer     hierarchy.Handle
}

func (e *entry[K, V]) ExpiresAt() int64         { return e.expiresAt }
func (e *entry[K, V]) IsAlive() bool            { return !e.removed }
func (e *entry[K, V]) Timer() *hierarchy.Handle { return &e.timer }

// NewCache returns an empty Cache whose time is now, in nanoseconds. It calls onExpire for
// each entry that has expired, with the lock held.
func NewCache[K comparable, V any](now func() int64, onExpire func(key K, value V)) *Cache[K, V] {
	return &Cache[K, V]{
		now: now, onExpire: onExpire,
		entries: make(map[K]*entry[K, V]),
		wheel:   NewWheel[*entry[K, V]](now()),
	}
}

// Set sets the value of key, which expires after lifetime.
func (c *Cache[K, V]) Set(key K, value V, lifetime time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.find(key)
	if e == nil {
		e = &entry[K, V]{key: key}
		c.entries[key] = e
	}
	e.value, e.expiresAt = value, c.now()+int64(lifetime)
	c.wheel.Schedule(e)
}

// SetExpiresAfter makes key expire after lifetime from now.
func (c *Cache[K, V]) SetExpiresAfter(key K, lifetime time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.find(key); e != nil {
		e.expiresAt = c.now() + int64(lifetime)
		c.wheel.Schedule(e)
	}
}

// Invalidate removes key.
func (c *Cache[K, V]) Invalidate(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.find(key); e != nil {
		c.remove(e)
		c.wheel.Unschedule(e)
	}
}

// find returns the entry of key. If the entry has expired, find removes it and returns nil.
func (c *Cache[K, V]) find(key K) *entry[K, V] {
	e := c.entries[key]
	if e != nil && e.expiresAt <= c.now() {
		c.expire(e)
		c.wheel.Unschedule(e)
		return nil
	}
	return e
}

func (c *Cache[K, V]) expire(e *entry[K, V]) {
	c.remove(e)
	c.onExpire(e.key, e.value)
}

func (c *Cache[K, V]) remove(e *entry[K, V]) {
	e.removed = true
	delete(c.entries, e.key)
}

// batch is the most entries that expire under one hold of the lock.
const batch = 256

// CleanUp removes the entries that have expired. It releases the lock after every 256 entries.
func (c *Cache[K, V]) CleanUp() {
	for c.cleanUpSome() {
	}
}

func (c *Cache[K, V]) cleanUpSome() (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wheel.Advance(c.now(), batch, func(e *entry[K, V], _ int64) bool {
		c.expire(e)
		return true
	})
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}
