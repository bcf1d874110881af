package time

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Timer is a [time.Timer] on the wheel of the process. When it fires, it sends on C the time at which it was due, or
// calls the function of AfterFunc. NewTimer or AfterFunc make a Timer. It must not be copied. Its methods may be called
// concurrently.
type Timer struct {
	C <-chan Time

	std *time.Timer // set in a bubble; the other fields are then unused
	c   chan Time   // channel of C; nil if the Timer is of AfterFunc
	f   func()      // function of AfterFunc; nil if the Timer has a channel

	mu      sync.Mutex
	timer   hierarchy.Timer // guarded by mu, as all below
	pending bool            // whether the timer of a channel was set, and has neither sent nor been stopped
	stale   int32           // number of firings that were stopped too late: send discards them
}

// AfterFunc calls f in a goroutine of its own after d. The returned Timer can stop the call.
// Its C is nil.
func AfterFunc(d Duration, f func()) *Timer {
	if process.InBubble() {
		return &Timer{std: time.AfterFunc(d, f)}
	}
	if f == nil {
		f = func() { panic("time: AfterFunc called with a nil function") }
	}
	t := &Timer{f: f}
	t.timer, _ = process.Get().AfterFunc(d, f) // the wheel is never stopped or full
	return t
}

// NewTimer makes a Timer that sends on C after d. It sends the time at which it was due.
func NewTimer(d Duration) *Timer {
	if process.InBubble() {
		std := time.NewTimer(d)
		return &Timer{C: std.C, std: std}
	}
	c := make(chan Time, 1)
	t := &Timer{C: c, c: c}
	t.set(d) // needs no lock: nobody else has t, and send does not use timer
	return t
}

// Stop stops the timer. It returns true if the timer was pending, or had sent a value that was not received. For a
// Timer of AfterFunc it returns false if the function was called or is about to be called. Stop does not wait for the
// function.
func (t *Timer) Stop() bool {
	if t.std != nil {
		return t.std.Stop()
	}
	if t.zero() {
		panic("time: Stop called on uninitialized Timer")
	}
	t.mu.Lock()
	var was bool
	if t.c == nil {
		was = t.timer.Stop()
	} else {
		was = t.halt()
	}
	t.mu.Unlock()
	return was
}

// zero reports whether t was not made by NewTimer or AfterFunc.
func (t *Timer) zero() bool { return t.c == nil && t.f == nil }

// Reset makes the timer fire after d, even if it has fired or was stopped. It returns what Stop would have returned. If
// a function of AfterFunc is running, Reset does not wait for it.
func (t *Timer) Reset(d Duration) bool {
	if t.std != nil {
		return t.std.Reset(d)
	}
	if t.zero() {
		panic("time: Reset called on uninitialized Timer")
	}
	if process.InBubble() {
		panic("time: Reset in a bubble of a Timer from outside")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.c == nil {
		return t.resetFunc(d)
	}
	if t.pending && d >= instant && t.timer.Reset(d) {
		return true
	}
	was := t.halt()
	t.set(d)
	return was
}

// resetFunc is Reset of a Timer of AfterFunc. mu must be held.
func (t *Timer) resetFunc(d Duration) bool {
	if t.timer.Reset(d) {
		return true
	}
	t.timer, _ = process.Get().AfterFunc(d, t.f)
	return false
}

// set sets the timer, which is not pending, and has nothing in its channel. mu must be held,
// except by NewTimer.
func (t *Timer) set(d Duration) {
	if d < instant && passed(process.Get(), d) {
		_, _ = process.Get().AfterInline(0, nothing) // counts the timer in the figures of the wheel
		t.deliver(process.Get().Clock.Now())
		return
	}
	t.pending = true
	t.timer, _ = process.Get().AfterInline(d, t.send)
}

func nothing(time.Time) {}

// instant is longer than the time that passes until a timer is set.
const instant = Microsecond

// passed reports whether d would have passed before the timer is set.
func passed(p *process.Process, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	now := p.Clock.Elapsed()
	return p.Clock.Elapsed()-now >= d
}

// send is called when the timer fires, with the time at which it was due.
func (t *Timer) send(due Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stale > 0 {
		t.stale--
		return
	}
	t.pending = false
	t.deliver(due)
}

// deliver sends due, the time at which the timer was due. mu must be held.
func (t *Timer) deliver(due Time) {
	select {
	case t.c <- due:
	default:
	}
}

// halt stops the timer and removes the value that it has sent, if any. mu must be held.
//
// If the timer is pending and can't be stopped, it has fired, and send is about to be called. A wheel fires its timers
// one after another, so this call of send comes before the calls of send for timers that are set later.
func (t *Timer) halt() bool {
	was := t.pending
	t.pending = false
	if was && t.timer.Stop() {
		return true // a pending timer has sent nothing that must be removed
	}
	if was {
		t.stale++
	}
	select {
	case <-t.c:
		return true
	default:
		return was
	}
}
