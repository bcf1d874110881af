package hierarchy

import "sync"

// waits counts how long callbacks have waited in an executor. It has parts with a lock each,
// since many workers of a Pool begin callbacks at the same time. It is nil
// for Go and Inline, which let nothing wait: then nothing is counted.
type waits []waitsPart

type waitsPart struct {
	mu sync.Mutex
	h  histogram // guarded by mu
	_  [64]byte  // each part has a cache line of its own
}

// dispatched is what began takes: the time at which a callback is dispatched, if that counts.
func (c *core[T]) dispatched() int64 {
	if c.waits == nil {
		return 0
	}
	return c.now()
}

// began counts a callback that begins now.
func (c *core[T]) began(dispatched int64) {
	if c.waits != nil {
		c.waits.add(c.now(), dispatched)
	}
}

// newWaits makes waits with a number of parts that is a power of two.
func newWaits(parts int) waits { return make(waits, parts) }

// add counts a callback that begins now, and has waited since then.
func (w waits) add(now, since int64) {
	p := w.lockOwn()
	p.h.add(now - since)
	p.mu.Unlock()
}

// lockOwn locks the part of the running processor. As with shards, a processor that finds
// another in its part uses the next one from then on.
func (w waits) lockOwn() *waitsPart {
	t := tokens.Get().(*token)
	defer tokens.Put(t)
	p := &w[t.number&(len(w)-1)]
	if p.mu.TryLock() {
		return p
	}
	t.number++
	p = &w[t.number&(len(w)-1)]
	p.mu.Lock()
	return p
}

// addTo adds what was counted to h.
func (w waits) addTo(h *histogram) {
	for i := range w {
		p := &w[i]
		p.mu.Lock()
		h.merge(&p.h)
		p.mu.Unlock()
	}
}

// queueFull reports whether MaxQueued callbacks wait in the executor.
func (c *core[T]) queueFull() bool {
	if c.maxQueued == 0 {
		return false
	}
	queued, _ := c.inFlight.count()
	return queued >= c.maxQueued
}
