package time

import (
	"context"
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
	_ = p.Sleep(context.Background(), d) // the wheel is never stopped or full
}
