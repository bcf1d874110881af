package main

import (
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// keyedCache is a Keyed: its values are those of the cache.
type keyedCache struct {
	keys *hierarchy.Keyed[int, time.Duration]
}

func newKeyedCache(l *lives) (cache, error) {
	keys, err := hierarchy.NewKeyed(hierarchy.Config{Executor: hierarchy.Inline},
		func(_ int, due time.Duration) { l.expired(due) })
	return keyedCache{keys}, err
}

func (k keyedCache) set(key int, due, lifetime time.Duration) error {
	return k.keys.Set(key, due, lifetime)
}

func (k keyedCache) get(key int) bool {
	_, ok := k.keys.Value(key)
	return ok
}

func (k keyedCache) len() int { return k.keys.Len() }

func (k keyedCache) stop() { k.keys.Stop() }

// mapCache is the least by hand: a map, a lock, and a timer of package time for each key.
type mapCache struct {
	*lives
	mu      sync.RWMutex
	entries map[int]mapEntry // guarded by mu
}

type mapEntry struct {
	due   time.Duration
	timer *time.Timer
}

func newMapCache(l *lives) (cache, error) {
	return &mapCache{lives: l, entries: map[int]mapEntry{}}, nil
}

func (m *mapCache) set(key int, due, lifetime time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	if e.due = due; ok {
		e.timer.Reset(lifetime)
	} else {
		e.timer = time.AfterFunc(lifetime, func() { m.expire(key) })
	}
	m.entries[key] = e
	return nil
}

// expire removes a key unless it was set meanwhile.
func (m *mapCache) expire(key int) {
	m.mu.Lock()
	e := m.entries[key]
	gone := time.Since(m.start) >= e.due
	if gone {
		delete(m.entries, key)
	}
	m.mu.Unlock()
	if gone {
		m.expired(e.due)
	}
}

func (m *mapCache) get(key int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.entries[key]
	return ok
}

func (m *mapCache) len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.entries)
}

func (m *mapCache) stop() {}

// otterCache is a cache of otter, which looks for expired keys about once a second. A key that is due can't be read.
type otterCache struct {
	*otter.Cache[int, time.Duration]
}

func newOtterCache(l *lives) (cache, error) {
	c, err := otter.New(&otter.Options[int, time.Duration]{
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[int, time.Duration]) time.Duration {
			return l.lifetime(e.Key)
		}),
		OnAtomicDeletion: func(e otter.DeletionEvent[int, time.Duration]) {
			if e.Cause == otter.CauseExpiration {
				l.expired(e.Value)
			}
		},
	})
	return otterCache{c}, err
}

func (o otterCache) set(key int, due, _ time.Duration) error {
	o.Set(key, due)
	return nil
}

func (o otterCache) get(key int) bool {
	_, ok := o.GetIfPresent(key)
	return ok
}

func (o otterCache) len() int { return o.EstimatedSize() }

func (o otterCache) stop() { o.StopAllGoroutines() }
