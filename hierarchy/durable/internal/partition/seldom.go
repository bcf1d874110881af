package partition

import (
	"time"
)

// warnEvery is the least time between two warnings of the same kind.
const warnEvery = time.Minute

// seldom limits how often a warning is logged.
type seldom struct {
	mu   mutex
	last time.Time
}

// due reports whether the warning may be logged now, and counts it as logged then.
func (s *seldom) due() bool {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last) < warnEvery {
		return false
	}
	s.last = now
	return true
}
