package engine

import "github.com/epicycle-go/epicycle/clock"

// waits counts how long callbacks have waited in an executor. It has parts with a lock each, since many workers of a
// Pool begin callbacks at the same time. With Go and Inline, callbacks don't wait, so waits is nil, and nothing is
// counted.
type waits []*waitsPart

type waitsPart struct {
	clock clock.Clock
	mu    mutex
	h     Durations // guarded by mu
	_     [64]byte  // each part has a cache line of its own
}

// dispatched returns the present time if waits are counted. The caller dispatches a callback, and passes that time to
// began.
func (c *Core[T]) dispatched() int64 {
	if c.waits == nil {
		return 0
	}
	return c.Now()
}

// began counts a callback that begins now.
func (c *Core[T]) began(dispatched int64) {
	if c.waits != nil {
		c.waits.own().Began(dispatched)
	}
}

// newWaits makes waits with a number of parts that is a power of two.
func newWaits(parts int, cl clock.Clock) waits {
	w := make(waits, parts)
	for i := range w {
		w[i] = &waitsPart{clock: cl}
		w[i].mu.is(waitsRank, i)
	}
	return w
}

func (p *waitsPart) lock() *mutex { return &p.mu }

// own returns the part of the running processor.
func (w waits) own() *waitsPart {
	p := lockOwn(w)
	p.mu.Unlock()
	return p
}

// Began counts a callback that begins now and was dispatched at the time dispatched.
func (p *waitsPart) Began(dispatched int64) {
	waited := int64(p.clock.Elapsed()) - dispatched
	p.mu.Lock()
	p.h.Add(waited)
	p.mu.Unlock()
}

// addTo adds the counts of all parts to h.
func (w waits) addTo(h *Durations) {
	for _, p := range w {
		p.mu.Lock()
		h.Merge(&p.h)
		p.mu.Unlock()
	}
}
