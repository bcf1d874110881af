package time

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Timer is a [time.Timer]. One that NewTimer has made is the runtime's: its channel is lazy, and it is collected when
// nobody refers to it or to C. One that AfterFunc has made is on the wheel of the process. A Timer must not be copied. Its
// methods may be called concurrently.
type Timer struct {
	C <-chan Time

	std  *time.Timer  // set if NewTimer has made the Timer, or in a bubble
	at   atomic.Int64 // the time at which the process should be awake for std, or 0
	call *call        // set if std is not
}

// call is the call of a function on the wheel, with its Timer.
type call struct {
	Timer
	f     func()
	mu    sync.Mutex      // orders Stop and Reset
	timer hierarchy.Timer // guarded by mu
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
	c := &call{f: f}
	c.call = c
	c.timer, _ = process.Get().AfterFunc(d, f) // the wheel is never stopped or full
	return &c.Timer
}

// NewTimer makes a Timer that sends the time on C after d.
func NewTimer(d Duration) *Timer {
	std := time.NewTimer(d)
	t := &Timer{C: std.C, std: std}
	t.watch(d)
	return t
}

// Stop stops the timer. It returns true if the timer was pending, or had sent a value that was not received. For a
// Timer of AfterFunc it returns false if the function was called or is about to be called. Stop does not wait for the
// function.
func (t *Timer) Stop() bool {
	switch {
	case t.call != nil:
		return t.call.stop()
	case t.std == nil:
		return new(time.Timer).Stop() // panics
	}
	if at := t.at.Swap(0); at != 0 {
		theirs().remove(Duration(at))
	}
	return t.std.Stop()
}

// Reset makes the timer fire after d, even if it has fired or was stopped. It returns what Stop would have returned. If
// a function of AfterFunc is running, Reset does not wait for it.
//
// A Timer from outside a bubble that is reset inside does not fire, since its time is not the bubble's, until it is reset
// outside. So it is with package time.
func (t *Timer) Reset(d Duration) bool {
	switch {
	case t.call != nil:
		return t.call.reset(d)
	case t.std == nil:
		return new(time.Timer).Reset(d) // panics
	}
	was := t.std.Reset(d)
	t.watch(d)
	return was
}

// watch sees to it that the process is awake when std is due, which was set to d from now.
func (t *Timer) watch(d Duration) {
	x := here()
	if x == nil {
		return
	}
	at := x.add(d)
	x.aimAt(at)
	if at != 0 || t.at.Load() != 0 {
		x.remove(Duration(t.at.Swap(int64(at))))
	}
}

func (c *call) stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timer.Stop()
}

func (c *call) reset(d Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if process.InBubble() {
		return c.timer.Stop()
	}
	if c.timer.Reset(d) {
		return true
	}
	c.timer, _ = process.Get().AfterFunc(d, c.f)
	return false
}
