package wheeltest

import (
	"sync"
	"time"
)

// Moments is when a function was called.
type Moments struct {
	mu sync.Mutex
	at []time.Time // guarded by mu
}

// Note notes that the function is called now.
func (m *Moments) Note() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = append(m.at, time.Now())
}

// Since returns how long after start the function was called each time.
func (m *Moments) Since(start time.Time) (all []time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.at {
		all = append(all, t.Sub(start))
	}
	return all
}
