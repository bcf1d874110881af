package partition

import (
	"sync/atomic"
	"time"
)

// silence is the time since which the frame in flight has had no clear answer. It is nil while there is no such frame.
type silence struct{ at atomic.Pointer[time.Time] }

func (s *silence) begin() {
	now := time.Now()
	s.at.Store(&now)
}

func (s *silence) end() { s.at.Store(nil) }

// any reports whether a frame is without a clear answer.
func (s *silence) any() bool { return s.at.Load() != nil }

// since returns when the silence began, or zero.
func (s *silence) since() (t time.Time) {
	if at := s.at.Load(); at != nil {
		t = *at
	}
	return t
}
