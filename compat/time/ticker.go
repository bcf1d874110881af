package time

import (
	"runtime"
	"slices"
	"sync"
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

// ticks are the times of a Ticker.
type ticks struct {
	mu           sync.Mutex    // orders Stop and Reset
	next, period time.Duration // guarded by the mu of instants
}

// NewTicker makes a Ticker. It panics if d <= 0.
func NewTicker(d Duration) *Ticker {
	x := here() // beforehand, since the first call takes a while
	std := time.NewTicker(d)
	t := &Ticker{C: std.C, std: std}
	if x != nil {
		t.ticks = new(ticks)
		x.watch(t.ticks, d)
		// The channel refers to the time.Ticker, which is collected when nobody refers to either.
		runtime.AddCleanup(std, x.forget, t.ticks)
	}
	return t
}

// Stop ends the ticks. It does not close C.
func (t *Ticker) Stop() {
	if t.std == nil { // as in package time, a zero Ticker is left alone
		return
	}
	if t.ticks == nil {
		t.std.Stop()
		return
	}
	t.ticks.mu.Lock()
	defer t.ticks.mu.Unlock()
	t.std.Stop()
	theirs().forget(t.ticks)
}

// Reset makes the ticker tick every d from now on, first after d. It panics if d <= 0.
func (t *Ticker) Reset(d Duration) {
	if t.std == nil {
		new(time.Ticker).Reset(d) // panics
	}
	if t.ticks == nil {
		t.std.Reset(d)
		return
	}
	t.ticks.mu.Lock()
	defer t.ticks.mu.Unlock()
	t.std.Reset(d)
	if x := here(); x != nil {
		x.watch(t.ticks, d)
	}
	runtime.KeepAlive(t.std) // its cleanup comes after watch
}

// watch sees to it that the process is awake for ticks every period from now on, if that is not long and not too many
// Tickers are watched.
func (x *instants) watch(t *ticks, period time.Duration) {
	if period > far {
		x.forget(t)
		return
	}
	next := x.clock.Elapsed() + period
	if x.keep(t, next, period) {
		x.aimAt(next)
	}
}

// keep records when a Ticker ticks, and reports false if too many Tickers are watched.
func (x *instants) keep(t *ticks, next, period time.Duration) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.Contains(x.tickers, t) {
		if len(x.tickers) == mostTickers {
			return false
		}
		x.tickers = append(x.tickers, t)
	}
	t.next, t.period = next, period
	return true
}

// forget undoes watch.
func (x *instants) forget(t *ticks) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.tickers, t); i >= 0 {
		x.tickers = slices.Delete(x.tickers, i, i+1)
	}
}

// nextTick returns the next time after now at which a Ticker ticks, or never. If the process is awake for a tick, it is no
// sooner than a gap from now. mu must be held.
func (x *instants) nextTick(now time.Duration) time.Duration {
	next, soonest := time.Duration(never), now
	for _, t := range x.tickers {
		if t.next <= now {
			t.next += ((now-t.next)/t.period + 1) * t.period
			soonest = now + gap
		}
		next = min(next, t.next)
	}
	return max(next, soonest)
}
