package time

import (
	"runtime"
	"slices"
	"time"
)

// Ticker is a [time.Ticker]: it sends the time on C every period. A tick that is not received before the next one is
// dropped. NewTicker makes a Ticker. It must not be copied. Its methods may be called concurrently. A Ticker is collected
// when nobody refers to it or to C any more, even if it was not stopped.
type Ticker struct {
	C <-chan Time

	std   *time.Ticker // nil if the Ticker is zero
	ticks *ticks       // nil in a bubble
}

const (
	// mostTickers is how many Tickers are watched. A process with more of them is not idle.
	mostTickers = 64
	// gap is the shortest time between two wake-ups for Tickers.
	gap = 250 * time.Microsecond
)

// ticks are the times of a Ticker that is watched.
type ticks struct {
	next, period time.Duration // guarded by the mu of instants
}

// NewTicker makes a Ticker. It panics if d <= 0.
func NewTicker(d Duration) *Ticker {
	std := time.NewTicker(d)
	t := &Ticker{C: std.C, std: std}
	if watched() {
		t.ticks = new(ticks)
		theirs().watch(t.ticks, d)
		// The channel refers to the time.Ticker, which is collected when nobody refers to either.
		runtime.AddCleanup(std, theirs().forget, t.ticks)
	}
	return t
}

// Stop ends the ticks. It does not close C.
func (t *Ticker) Stop() {
	if t.std == nil { // as in package time, a zero Ticker is left alone
		return
	}
	t.std.Stop()
	if t.ticks != nil {
		theirs().forget(t.ticks)
	}
}

// Reset makes the ticker tick every d from now on, first after d. It panics if d <= 0.
func (t *Ticker) Reset(d Duration) {
	if t.std == nil {
		new(time.Ticker).Reset(d) // panics
	}
	t.std.Reset(d)
	if t.ticks != nil && watched() {
		theirs().watch(t.ticks, d)
	}
}

// watch sees to it that the process is awake for ticks every period from now on, if not too many Tickers are watched.
func (x *instants) watch(t *ticks, period time.Duration) {
	x.mu.Lock()
	if !slices.Contains(x.tickers, t) {
		if len(x.tickers) == mostTickers {
			x.mu.Unlock()
			return
		}
		x.tickers = append(x.tickers, t)
	}
	t.next, t.period = later(x.clock.Elapsed(), period), period
	next := t.next
	x.mu.Unlock()
	x.aimAt(next)
}

// forget undoes watch.
func (x *instants) forget(t *ticks) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.tickers, t); i >= 0 {
		x.tickers = slices.Delete(x.tickers, i, i+1)
	}
}

// nextTick returns the next time after now at which a Ticker ticks, but no sooner than a gap from now, or never. mu must
// be held.
func (x *instants) nextTick(now time.Duration) time.Duration {
	next := time.Duration(never)
	for _, t := range x.tickers {
		if t.next <= now {
			t.next = later(t.next, ((now-t.next)/t.period+1)*t.period)
		}
		next = min(next, t.next)
	}
	return max(next, now+gap)
}

// later returns t + d, or the largest Duration if that overflows.
func later(t, d time.Duration) time.Duration {
	if t+d < t {
		return never
	}
	return t + d
}
