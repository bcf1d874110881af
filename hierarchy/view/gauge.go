package view

import (
	"encoding/json"
	"sync"
	"time"
)

// gauge reads a wheel, and remembers what it was like within the last minute.
type gauge struct {
	source Source
	start  time.Time

	mu     sync.Mutex
	memory memory // guarded by mu
}

func newGauge(source Source) *gauge { return &gauge{source: source, start: time.Now()} }

func (g *gauge) shared() *shared { return &shared{take: func() any { return g.snapshot() }} }

func (g *gauge) snapshot() snapshot {
	circles := g.source.Circles()
	f, now := g.figures()
	return snapshot{
		Time: now, Taken: now.Sub(g.start), Elapsed: shown(circles),
		figures: f, Circles: circlesOf(circles),
	}
}

// figures holds the lock all the time: of two that ask at once, the one that sees more
// must be remembered as the later.
func (g *gauge) figures() (figures, time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	st := g.source.Stats()
	now := time.Now()
	all := distributionOf(st.Lateness)
	recent, span := g.memory.since(moment{now, all})
	f := figuresOf(st)
	f.Lateness = latenessOf(st.Lateness, all)
	f.Recent = recentOf(recent, span, st.Lateness.Max())
	return f, now
}

// shared is the last of what take has given, as JSON: those who watch at the same
// time share it.
type shared struct {
	take func() any

	mu    sync.Mutex
	taken time.Time // guarded by mu, as is last
	last  []byte    // never written to again: it may be being sent
}

// notOlder is what take has given, taken now unless there is something that is not
// older than age.
func (s *shared) notOlder(age time.Duration) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || time.Since(s.taken) >= age {
		s.last = encode(s.take())
		s.taken = time.Now()
	}
	return s.last
}

func encode(taken any) []byte {
	text, err := json.Marshal(taken)
	if err != nil {
		panic("view: " + err.Error()) // integers, times and names can't fail
	}
	return text
}
