package time

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// Sleep returns after d, at once if d <= 0. Where more than 16 goroutines go to sleep within
// a millisecond, it may return a millisecond later than alone, together with others.
func Sleep(d Duration) {
	if d <= 0 {
		return
	}
	if process.InBubble() {
		time.Sleep(d)
		return
	}
	p := process.Get()
	now := p.Clock.Elapsed()
	if arriving.crowded(now) && sleepInCrowd(p, now, d) {
		return
	}
	s := sleepers.Get().(*sleeper)
	_, _ = p.AfterInline(d, s.wake)
	<-s.awake
	sleepers.Put(s)
}

// sleeper is what a goroutine sleeps on. It is used again and again, as it costs more to make
// than to sleep.
type sleeper struct {
	awake chan struct{}
	wake  func()
}

var sleepers = sync.Pool{New: func() any {
	s := &sleeper{awake: make(chan struct{}, 1)}
	s.wake = func() { s.awake <- struct{}{} }
	return s
}}
