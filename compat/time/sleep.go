package time

import (
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// Sleep returns after d, at once if d <= 0. Where more than 16 goroutines sleep that are due
// within a millisecond, it may return a millisecond later than alone, together with others.
func Sleep(d Duration) {
	if d <= 0 {
		return
	}
	if process.InBubble() {
		time.Sleep(d)
		return
	}
	p := process.Get()
	sleep(p, p.Clock.Elapsed(), d)
}
