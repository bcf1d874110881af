package time

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// ticks is the part of a Ticker that the wheel refers to. It does not keep the channel alive.
type ticks struct {
	channel weakChannel // immutable, as the next one
	tick    func(Time)  // fire

	mu      sync.Mutex
	timer   hierarchy.Timer // guarded by mu, as all below
	period  time.Duration   // 0 if the ticker is stopped
	next    time.Duration   // time of the next tick, by the clock of the wheel
	stale   int             // number of ticks that have fired, were stopped, and are still to be discarded by send
	pending bool            // whether the next tick is set, and has neither fired nor been stopped
}

func newTicks(c chan Time) *ticks {
	t := &ticks{channel: weaken(c)}
	t.tick = t.fire
	return t
}

// reset makes ticks every period from now on.
func (t *ticks) reset(period time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.halt()
	p := process.Get()
	t.period, t.next = period, later(p.Clock.Elapsed(), period)
	t.set(p, period)
}

// stop ends the ticks.
func (t *ticks) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.halt()
}

// set sets the timer of the next tick. mu must be held.
func (t *ticks) set(p *process.Process, d time.Duration) {
	t.pending = true
	t.timer, _ = p.AfterInline(d, t.tick) // the wheel is never stopped or full
}

// unreadPause applies after a tick that was not received. If several ticks are due within unreadPause, the last of them
// is the next one to be sent. So a Ticker with a short period that nobody reads does not keep a processor busy.
const unreadPause = time.Millisecond

// halt stops the timer, and removes a tick that was not received. mu must be held. A tick that has fired and can't be
// stopped comes before all ticks that are set later, as for a Timer.
func (t *ticks) halt() {
	if t.pending && !t.timer.Stop() {
		t.stale++
	}
	t.pending, t.period = false, 0
	if c := t.channel.value(); c != nil {
		empty(c)
	}
}

// fire is called for each tick.
func (t *ticks) fire(Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stale > 0 {
		t.stale--
		return
	}
	t.pending = false
	c := t.channel.value()
	if c == nil {
		return // the Ticker was collected
	}
	p := process.Get()
	now := p.Clock.Elapsed()
	missed := (now - t.next) / t.period
	select {
	case c <- time.Now().Add(t.next - now): // the wall time at which the tick was due
	default: // nobody receives ticks at present; see unreadPause
		missed = max(missed, (later(now, unreadPause)-t.next)/t.period-1)
	}
	t.next = later(t.next, t.period*(missed+1))
	t.set(p, t.next-now)
}

// later is t + d, or the largest Duration if that overflows.
func later(t, d time.Duration) time.Duration {
	if t+d < t {
		return 1<<63 - 1
	}
	return t + d
}

// empty removes the value in c, if any.
func empty(c chan Time) {
	select {
	case <-c:
	default:
	}
}
