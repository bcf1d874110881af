package time

import (
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// Sleep returns after d, or at once if d <= 0. When more than 16 sleeping goroutines are due within the same
// millisecond, they wake together, up to a millisecond late.
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
