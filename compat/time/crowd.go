package time

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

const (
	// crowd is how many goroutines must sleep before they share timers.
	crowd = 64
	// window is how much later than due a sleeper of a crowd may be woken, so that it
	// shares a timer and a channel with others. It is small beside a Precision.
	window = 1 << 16 // ns
)

// sleeping is how many goroutines sleep.
var sleeping atomic.Int32

// dormitory is where the sleepers of one window of time wait.
type dormitory struct {
	mu   sync.Mutex
	at   time.Duration // guarded by mu, as below; when they are woken
	door chan struct{} // closed then; nil: nobody is here
	open func()        // wakes them
	n    int           // how many are here
	_    [24]byte
}

var dormitories [256]dormitory

// sleepInCrowd sleeps with others until d has passed. It is false if another window has the
// place.
func sleepInCrowd(p *process.Process, d time.Duration) bool {
	now := p.Clock.Elapsed()
	if d > math.MaxInt64/2-now {
		return false
	}
	at := (now + d + window) / window * window
	h := &dormitories[at/window%time.Duration(len(dormitories))]
	h.mu.Lock()
	if h.door == nil {
		h.prepare(p, at, at-now)
	}
	door := h.door
	ok := h.at == at
	if ok {
		h.n++
	}
	h.mu.Unlock()
	if ok {
		<-door
	}
	return ok
}

// prepare opens the dormitory for sleepers that wake at a time, which is d from now. mu must
// be held.
func (h *dormitory) prepare(p *process.Process, at, d time.Duration) {
	if h.open == nil {
		h.open = h.wake
	}
	h.at, h.door = at, make(chan struct{})
	_, _ = p.AfterInline(d, h.open)
}

// wake wakes all sleepers.
func (h *dormitory) wake() {
	h.mu.Lock()
	door := h.door
	h.door, h.n = nil, 0
	h.mu.Unlock()
	close(door)
}
