package view

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// gauge reads the figures of a wheel, and keeps the histograms of the last minute.
type gauge struct {
	source Source
	start  time.Time

	mu     sync.Mutex
	late   samples // guarded by mu
	waited samples // guarded by mu
}

func newGauge(source Source) *gauge { return &gauge{source: source, start: time.Now()} }

func (g *gauge) cache() *cache { return &cache{take: func() any { return g.snapshot() }} }

func (g *gauge) snapshot() snapshot {
	circles := g.source.Circles()
	f, now := g.figures()
	return snapshot{
		Time: now, Taken: now.Sub(g.start), Elapsed: elapsedOf(circles),
		figures: f, Circles: circlesOf(circles), Logs: logsOf(g.source), Members: membersOf(g.source),
	}
}

// figures returns the wheel's figures and the time. It holds the lock throughout, so that
// concurrent calls keep their samples in the order in which they read them.
func (g *gauge) figures() (figures, time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	st := g.source.Stats()
	now := time.Now()
	f := figuresOf(st)
	f.Lateness, f.Recent = g.late.both(st.Lateness, now)
	f.Waited, f.Waiting = g.waited.both(st.Waited, now)
	return f, now
}

// both returns the distribution of all durations of h, and the distribution of the durations that were added in the
// last minute.
func (s *samples) both(h hierarchy.Histogram, now time.Time) (lateness, recentLateness) {
	all := distributionOf(h)
	recent, span := s.since(sample{now, all})
	return latenessOf(h, all), recentOf(recent, span, h.Max())
}

// cache keeps the last snapshot that take returned, as JSON, for concurrent streams to
// share.
type cache struct {
	take func() any

	mu    sync.Mutex
	taken time.Time // guarded by mu, like last
	last  []byte    // not written to after it is set, because a stream may be sending it
}

// get returns the last snapshot if it is younger than maxAge, and otherwise a new one.
func (c *cache) get(maxAge time.Duration) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || time.Since(c.taken) >= maxAge {
		c.last = encode(c.take())
		c.taken = time.Now()
	}
	return c.last
}

func encode(taken any) []byte {
	text, err := json.Marshal(taken)
	if err != nil {
		panic("view: " + err.Error()) // integers, times and names can't fail
	}
	return text
}
