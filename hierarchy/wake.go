package hierarchy

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

const (
	// readEvery is after how many timers handed over the clock is read again: a
	// reading costs as much as firing a timer.
	readEvery = 16
	// yieldEvery is after how many the others get a turn: another shard, and on
	// the processor those who wait for a lock, since unlocking alone does not
	// give it to them.
	yieldEvery = 64
)

// wake hands over all that is due, in order of deadline, and aims the alarm at
// what comes next. It is called by the alarm, never by two at once. On a mock,
// only the first and those of an order below limit are handed over: then it is
// another wheel's turn.
func (c *core[T]) wake(limit uint64) {
	c.work.enter()
	defer c.work.leave()
	now := c.now()
	if !c.waker.wake(now) {
		return
	}
	r := round[T]{core: c, now: now, budget: budget}
	defer r.end()
	if c.mock != nil {
		r.budget = math.MaxInt // in order, whatever it takes
		r.handOver(c.shards[0], now, limit)
	} else {
		r.handOverAll()
	}
	r.complete = true
}

// next is a time before which no timer is due, if any timer waits for its
// deadline: one that is held, while its callback runs, does not.
func (c *core[T]) next() (nearest int64, pending bool) {
	nearest = never
	for _, s := range c.shards {
		nearest = min(nearest, s.notBefore.Load())
	}
	if nearest != never {
		return nearest, true
	}
	for _, s := range c.shards {
		pending = pending || s.pending()
	}
	return never, pending
}

// round is one wake-up at work.
type round[T any] struct {
	core     *core[T]
	now      int64
	budget   int
	count    int  // handed over
	running  bool // a callback of Inline is called
	complete bool
}

// handOverAll hands over what is due on all shards.
func (r *round[T]) handOverAll() {
	var tired *shard[T] // has more to do than fits in a turn
	for !r.core.closed.Load() {
		s, until := r.foremost(tired)
		if s == nil && tired == nil {
			return
		}
		tired = nil
		if s != nil && r.handOver(s, until, math.MaxUint64) {
			tired = s
		}
	}
}

// foremost is the shard whose nearest deadline has come and comes first, and
// the nearest deadline of the others; except is left out.
func (r *round[T]) foremost(except *shard[T]) (first *shard[T], until int64) {
	nearest := r.now
	until = never
	for _, s := range r.core.shards {
		switch t := s.notBefore.Load(); {
		case s == except || t == never && !(r.now == never && s.pending()): // also at the end of time
		case t > nearest || first != nil && t == nearest:
			until = min(until, t)
		default:
			if first != nil {
				until = min(until, nearest)
			}
			first, nearest = s, t
		}
	}
	return first, until
}

// handOver hands over what is due on s, at until or before, but off a mock no
// more than fits in a turn. It tells whether s had too much to do to find out
// what is due: then it is another shard's turn.
func (r *round[T]) handOver(s *shard[T], until int64, limit uint64) (more bool) {
	c, most := r.core, uint64(math.MaxUint64)
	for turn := 0; !c.closed.Load() && (turn < yieldEvery || c.mock != nil); turn++ {
		v, f, ok, more := s.take(r.now, until, most, r.budget)
		if more {
			runtime.Gosched()
			r.now = c.now() // what has become due meanwhile comes first
			return true
		}
		if !ok {
			return false
		}
		r.dispatch(v, f)
		most = limit
		r.count++
		if r.count%readEvery == 0 && c.mock == nil {
			r.now = c.now()
		}
	}
	runtime.Gosched()
	return false
}

// dispatch has the callback of v called.
func (r *round[T]) dispatch(v T, f level.Flags) {
	c := r.core
	switch {
	case f&flagDirect != 0:
		c.fire(v)
	case c.inline:
		if !r.running {
			r.running = true
			c.work.begin()
		}
		c.invoke(v)
	default:
		c.submit(v)
	}
}

// submit gives the callback of v to the executor. If that panics, a task that
// was not called yet never will be.
func (c *core[T]) submit(v T) {
	var called atomic.Bool
	accepted := false
	c.work.hand()
	defer func() {
		if !accepted && called.CompareAndSwap(false, true) {
			c.work.drop()
		}
	}()
	c.execute(func() {
		if !called.CompareAndSwap(false, true) {
			panic("hierarchy: an Executor called a task twice")
		}
		c.work.start()
		defer c.work.finish()
		if c.mock != nil {
			c.mock.Run(func() { c.invoke(v) })
		} else {
			c.invoke(v)
		}
	})
	accepted = true
}

// end ends the round, also when a callback has panicked or exited the goroutine.
func (r *round[T]) end() {
	c := r.core
	if r.running {
		c.work.finish()
	}
	c.waker.sleep(c.next, !r.complete)
}

// stepped is a wheel as its mock clock sees it.
type stepped[T any] struct{ c *core[T] }

func (w stepped[T]) Nearest() (deadline time.Duration, order uint64, ok bool) {
	deadline, order, ok = w.c.shards[0].earliest()
	w.c.waker.correct(w.c.next)
	return deadline, order, ok
}

func (w stepped[T]) Step(limit uint64) { w.c.wake(limit) }
func (w stepped[T]) Settle() bool      { return w.c.work.settle() }
func (w stepped[T]) Len() int          { return w.c.len() }
