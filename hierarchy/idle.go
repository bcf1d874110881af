package hierarchy

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Idle fires when it has not been touched for some time, like the idle timeout of a connection. It fires once. Its
// methods may be called concurrently, also inside its function. NewIdle makes an Idle; the methods of a zero Idle
// panic.
//
// A touch only records its time. The wheel's timer stays where it is, and when it is due although the Idle was touched
// since, the wheel puts it off to the deadline of the last touch. Stats counts that in Moved, once for any number of
// touches, and does not count the touches. So an Idle that is touched again and again costs the wheel about one wake-up
// and one move every d. On a mock, each touch moves the timer, so that Mock.Next sees the new deadline.
type Idle struct {
	// due is d after the last touch, or ended. Invariant: the deadline of the timer is not later than due.
	due   atomic.Int64
	timer engine.Owned[func()]
	core  *engine.Core[func()] // immutable, like d and f
	d     time.Duration
	f     func() // a touch writes to the Idle, so on 64-bit machines it fills a cache line of its own
}

// ended is the due of an Idle that has fired or was stopped. An Idle that was dropped by the Stop of its wheel may have
// any due.
const ended = -1

// NewIdle makes an Idle for which the wheel's executor calls f when d has passed since the last Touch, or since NewIdle
// if there was no Touch. The error is ErrNilFunc, ErrArgument if d <= 0, ErrClosed or ErrFull.
func (w *Wheel) NewIdle(d time.Duration, f func()) (*Idle, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if d <= 0 {
		return nil, fmt.Errorf("%w: idle time %v must be positive", ErrArgument, d)
	}
	c := w.core
	now := c.Now()
	due := engine.DeadlineAfter(now, d)
	i := &Idle{core: c, d: d, f: f}
	i.due.Store(due)
	if err := i.timer.InitSet(c, i.answer, 0, now, due); err != nil {
		return nil, err
	}
	return i, nil
}

// Touch puts the firing off until d has passed from now. If it returns true, the Idle will not fire before d has passed
// since Touch began, but it may still be stopped. It returns false if the Idle has fired, or if the Idle or the wheel
// was stopped. Touch takes no lock, except on a mock, and does not allocate: it costs a reading of the clock and a
// compare-and-swap.
func (i *Idle) Touch() bool {
	c := i.core
	engine.RequireMade(c != nil, "Idle")
	now := c.Now()
	due := engine.DeadlineAfter(now, i.d)
	for {
		was := i.due.Load()
		if was == ended || c.Closed() {
			return false
		}
		if i.put(was, due) {
			break
		}
	}
	i.timer.AskOnMock(now)
	return true
}

// put sets i.due, which was read as was, to due. If was is already later, put leaves i.due as it is. It reports false
// if i.due has changed since it was read: then the Idle may have fired.
func (i *Idle) put(was, due int64) bool {
	return due <= was || i.due.CompareAndSwap(was, due)
}

// Stop stops the Idle. It returns true if the Idle will not fire, and false if f was dispatched, or the Idle or its
// wheel was stopped before. It does not wait for a running f.
func (i *Idle) Stop() bool {
	engine.RequireMade(i.core != nil, "Idle")
	stopped := i.timer.Stop()
	if stopped {
		i.due.Store(ended)
	}
	return stopped
}

// answer answers the wheel, see engine.Owned. It either finds that the Idle was touched since the timer was set, or makes
// every later Touch return false.
func (i *Idle) answer() {
	deadline, due := i.timer.Asked()
	if due && i.due.CompareAndSwap(deadline, ended) {
		i.timer.Fire(&i.f)
		return
	}
	i.timer.PutOff(i.due.Load())
}
