package hierarchy

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Idle fires when it has not been touched for some time: what the idle timeout of a
// connection is. It fires once. Its methods may be called concurrently, also inside its
// function. NewIdle makes an Idle; the methods of a zero Idle panic.
//
// A touch only notes its time. The wheel's timer stays where it is, and when it comes to
// fire after a touch, the wheel puts it off to the deadline of the last touch. Stats counts
// that in Moved, once for any number of touches, and does not count the touches. So an
// Idle that is touched again and again costs the wheel about one wake-up and one move every
// d. On a mock, each touch moves the timer, so that Mock.Next sees the touched deadline.
type Idle struct {
	// due is d after the last touch, or ended. Invariant: the deadline of the timer is not
	// later, and only a holder of the shard's lock writes ended.
	due atomic.Int64

	core       *core[func()] // immutable, as all below
	d          time.Duration
	f          func()
	shard      *shard[func()]
	generation uint64
	index      uint32
	_          [8]byte // fills a cache line where pointers have 64 bits, as touches write to it
}

// ended is the due of an Idle that has fired or was stopped. One that its wheel has dropped
// need not have it.
const ended = -1

// NewIdle makes an Idle that has the wheel's executor call f when d has passed since the
// call, and since the last Touch. The error is ErrNilFunc, ErrArgument if d <= 0, ErrClosed
// or ErrFull.
func (w *Wheel) NewIdle(d time.Duration, f func()) (*Idle, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if d <= 0 {
		return nil, fmt.Errorf("%w: idle time %v must be positive", ErrArgument, d)
	}
	c := w.core
	now := c.now()
	due := deadlineAfter(now, d)
	i := &Idle{core: c, d: d, f: f}
	i.due.Store(due)
	s := c.lockAny()
	if err := s.admit(0); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	i.shard = s // before the timer can fire
	wakeAt := int64(0)
	i.index, i.generation, wakeAt = s.set(i.fire, now, due, askFirst)
	s.unlock(wakeAt)
	return i, nil
}

// Touch puts the firing off until d has passed from now. If it is true, the Idle will not
// fire before d has passed from when Touch began, but it may still be stopped. It is false
// if the Idle has fired or was stopped, or the wheel was. Touch takes no lock, except on a
// mock, and no allocation: it costs a reading of the clock and a compare-and-swap.
func (i *Idle) Touch() bool {
	c := i.core
	requireMade(c != nil, "Idle")
	if c.mock != nil {
		return i.touchOnMock()
	}
	due := deadlineAfter(int64(c.clock.Elapsed()), i.d)
	for {
		was := i.due.Load()
		if was == ended || c.closed.Load() {
			return false
		}
		if i.put(was, due) {
			return true
		}
	}
}

// put makes due the due, which was read to be was, or leaves a later one. It reports false
// if due has changed since: the Idle may have fired.
func (i *Idle) put(was, due int64) bool {
	return due <= was || i.due.CompareAndSwap(was, due)
}

// touchOnMock is Touch on a mock.
func (i *Idle) touchOnMock() bool {
	s := i.shard
	now := i.core.now()
	due := deadlineAfter(now, i.d)
	s.mu.Lock()
	n := s.lookup(i.index, i.generation)
	if n == nil {
		s.mu.Unlock()
		return false
	}
	i.due.Store(due)
	s.counts.moved++
	s.unlock(s.move(i.index, n, now, due))
	return true
}

// Stop stops the Idle. It is true if it will not fire, and false if f was dispatched, or the
// Idle or its wheel was stopped before. It does not wait for an f that runs.
func (i *Idle) Stop() bool {
	requireMade(i.core != nil, "Idle")
	s := i.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	stopped := s.stopOwned(i.index, i.generation)
	if stopped {
		i.due.Store(ended)
	}
	return stopped
}

// fire is asked before the timer fires, with the shard's lock held. It either finds that the
// Idle was touched since the timer was set, or makes every later Touch false.
func (i *Idle) fire() {
	s := i.shard
	deadline := s.timers.Arena().At(i.index).Key
	if s.answer.early {
		s.answer.later = i.due.Load()
	} else if i.due.CompareAndSwap(deadline, ended) {
		s.answer = answer[func()]{run: &i.f}
	} else {
		s.answer = answer[func()]{later: i.due.Load()}
	}
}
