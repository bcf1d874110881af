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

// group is the sleepers of one window.
type group struct {
	mu    sync.Mutex
	at    time.Duration // guarded by mu, as below; when they are woken
	awake chan struct{} // closed then; nil: there is no sleeper
	wake  func()        // closes it
	n     int           // how many there are, for tests
	_     [16]byte
}

// groups has a group for each of the next windows. Windows that are as far apart as the
// array is long share one.
var groups [256]group

// sleepInCrowd sleeps with others until d has passed since now. It is false if it can't, as
// the group has sleepers of another window.
func sleepInCrowd(p *process.Process, now, d time.Duration) bool {
	if d > math.MaxInt64-window-now {
		return false
	}
	at := (now + d + window - 1) / window * window
	awake := groups[at/window%time.Duration(len(groups))].join(p, at, at-now)
	if awake == nil {
		return false
	}
	<-awake
	return true
}

// join returns what is closed at a time, which is d from now, or nil if the group has sleepers
// of another window.
func (g *group) join(p *process.Process, at, d time.Duration) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.awake == nil {
		if g.wake == nil {
			g.wake = g.wakeAll
		}
		g.at, g.awake = at, make(chan struct{})
		_, _ = p.AfterInline(d, g.wake)
	}
	if g.at != at {
		return nil
	}
	g.n++
	return g.awake
}

// wakeAll wakes all sleepers.
func (g *group) wakeAll() {
	g.mu.Lock()
	awake := g.awake
	g.awake, g.n = nil, 0
	g.mu.Unlock()
	close(awake)
}
