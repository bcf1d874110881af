package time

import (
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// Ticker is a [time.Ticker] on the wheel of the process. It sends the time on C every period.
// A tick that is not received before the next one is dropped. NewTicker makes a Ticker. It
// must not be copied. Its methods may be called concurrently. A Ticker is collected when
// nobody refers to it or to C any more, even if it was not stopped.
type Ticker struct {
	C <-chan Time

	std   *time.Ticker // set in a bubble; the other fields are then unused
	c     chan Time    // keeps the channel alive if C is assigned to
	ticks *ticks       // nil if the Ticker is zero
}

// NewTicker makes a Ticker. It panics if d <= 0.
func NewTicker(d Duration) *Ticker {
	if d <= 0 {
		panic("non-positive interval for NewTicker")
	}
	if process.InBubble() {
		std := time.NewTicker(d)
		return &Ticker{C: std.C, std: std}
	}
	c := make(chan Time, 1)
	t := &Ticker{C: c, c: c, ticks: newTicks(c)}
	runtime.AddCleanup(addressOf(c), (*ticks).stop, t.ticks)
	t.ticks.reset(d)
	return t
}

// Stop ends the ticks. It does not close C.
func (t *Ticker) Stop() {
	switch {
	case t.std != nil:
		t.std.Stop()
	case t.ticks != nil: // as in package time, a zero Ticker is left alone
		t.ticks.stop()
		empty(t.c)
	}
}

// Reset makes the ticker tick every d from now on, first after d. It panics if d <= 0.
func (t *Ticker) Reset(d Duration) {
	switch {
	case d <= 0:
		panic("non-positive interval for Ticker.Reset")
	case t.std != nil:
		t.std.Reset(d)
	case t.ticks == nil:
		panic("time: Reset called on uninitialized Ticker")
	case process.InBubble():
		panic("time: Reset in a bubble of a Ticker from outside")
	default:
		t.ticks.reset(d)
	}
}
