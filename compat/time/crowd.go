package time

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// Where many goroutines sleep for short times, the wheel wakes once for each Precision, and
// gathers those that are due. Each wake-up and each sleeper costs. So in a crowd, sleepers
// share a timer and a channel: those that are due within a window wake at its end. That is
// late by half a window on average, as they would be by being gathered. As a window is longer
// than a Precision, the wheel wakes at its end exactly.
const (
	window = 1 << 20 // ns, about a millisecond
	// crowd is how many must go to sleep within a window to be a crowd.
	crowd = 16
	// lasting is for how many windows a crowd is taken to last.
	lasting = 16
)

// arrivals counts those who go to sleep. All of its fields are only hints.
type arrivals struct {
	word atomic.Uint64 // the number of the current window << 8 + how many, at most crowd
	last atomic.Int64  // the last window with a crowd, + 1
}

var arriving arrivals

// crowded notes that somebody goes to sleep now, and reports whether that is in a crowd.
func (a *arrivals) crowded(now time.Duration) bool {
	w := int64(now / window)
	word := a.word.Load()
	switch {
	case int64(word>>8) != w:
		a.word.Store(uint64(w)<<8 + 1)
	case word&0xff < crowd:
		a.word.Store(word + 1) // a lost count does no harm
	default:
		if a.last.Load() != w+1 {
			a.last.Store(w + 1)
		}
		return true
	}
	last := a.last.Load()
	return last > 0 && w+1-last <= lasting
}

// dormitory is where the sleepers of one window wait.
type dormitory struct {
	mu   sync.Mutex
	at   time.Duration // guarded by mu, as below; when they are woken
	door chan struct{} // closed then; nil: nobody is here
	open func()        // wakes them
	n    int           // how many are here
	_    [24]byte
}

var dormitories [256]dormitory

// sleepInCrowd sleeps with others until d has passed since now. It is false if it can't, as
// another window has the place.
func sleepInCrowd(p *process.Process, now, d time.Duration) bool {
	if d > math.MaxInt64-window-now {
		return false
	}
	at := (now + d + window - 1) / window * window
	h := &dormitories[at/window%time.Duration(len(dormitories))]
	door := h.enter(p, at, at-now)
	if door == nil {
		return false
	}
	<-door
	return true
}

// enter returns what is closed at a time, which is d from now, or nil if the dormitory has
// sleepers of another window.
func (h *dormitory) enter(p *process.Process, at, d time.Duration) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.door == nil {
		if h.open == nil {
			h.open = h.wake
		}
		h.at, h.door = at, make(chan struct{})
		_, _ = p.AfterInline(d, h.open)
	}
	if h.at != at {
		return nil
	}
	h.n++
	return h.door
}

// wake wakes all sleepers.
func (h *dormitory) wake() {
	h.mu.Lock()
	door := h.door
	h.door, h.n = nil, 0
	h.mu.Unlock()
	close(door)
}
