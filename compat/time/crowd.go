package time

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// Where many goroutines sleep for short times, the wheel wakes once for each Precision and collects the sleepers that
// are due. Each wake-up and each sleeper has a cost. So in a crowd, sleepers share a timer and a channel: sleepers that
// are due within the same window wake at the end of the window. Sleepers are late by half a window on average, no more
// than if the wheel collected them. Because a window is longer than a Precision, the wheel wakes exactly at the end of
// each window.
const (
	window = 1 << 20 // ns, about a millisecond
	// crowd is the number of sleepers that must be due within a window for the next sleeper to be in a crowd.
	crowd = 16
	// lasting is the number of windows for which a crowd is assumed to last.
	lasting = 16
)

// lastCrowd is the number of the last window in which a goroutine began to sleep in a crowd, plus 1, or 0 if there
// was none.
var lastCrowd atomic.Int64

// group has the sleepers of one window.
type group struct {
	alone atomic.Int32 // number of goroutines that sleep without the others

	mu    sync.Mutex
	at    time.Duration // time at which the sleepers are woken; guarded by mu, as all below
	awake chan struct{} // closed at that time; nil if there is no sleeper
	wake  func(Time)    // closes awake
	n     int           // number of sleepers, for tests
	_     [8]byte
}

// groups has a group for each of the next windows. Windows whose distance is a multiple of the length of the array
// share a group.
var groups [256]group

// sleep sleeps until d has passed since now, in a crowd together with others.
func sleep(p *process.Process, now, d time.Duration) {
	at := later(later(now, d), window-1) / window * window
	g := &groups[at/window%time.Duration(len(groups))]
	if g.crowded(now) && at >= later(now, d) {
		if awake := g.join(p, at, at-now); awake != nil {
			<-awake
			return
		}
	}
	g.alone.Add(1)
	_ = p.Sleep(context.Background(), d) // the wheel is never stopped or full
	g.alone.Add(-1)
}

// crowded reports whether a goroutine that begins to sleep now is in a crowd.
func (g *group) crowded(now time.Duration) bool {
	w, last := int64(now/window), lastCrowd.Load()
	if g.alone.Load() < crowd {
		return last > 0 && w+1-last <= lasting
	}
	if last != w+1 {
		lastCrowd.Store(w + 1)
	}
	return true
}

// join returns a channel that is closed at the time at, which is d from now, or nil if the sleepers of the group are
// due within another window.
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
func (g *group) wakeAll(Time) {
	g.mu.Lock()
	awake := g.awake
	g.awake, g.n = nil, 0
	g.mu.Unlock()
	close(awake)
}
