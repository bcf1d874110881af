package hierarchy

import (
	"math"
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

const (
	// readEvery is after how many timers handed over the clock is read again: a
	// reading costs as much as firing a timer.
	readEvery = 16
	// yieldEvery is after how many the others get a turn on the processor:
	// unlocking alone does not give them the lock.
	yieldEvery = 64
)

// wake hands over all that is due, in order of deadline, and aims the alarm at
// what comes next. It is called by the alarm, never by two at once. On a mock,
// only the first and those of an order below limit are handed over: then it is
// another wheel's turn.
func (c *core[T]) wake(limit uint64) {
	now := c.now()
	if !c.waker.wake(now) {
		return
	}
	r := round[T]{core: c, now: now, budget: budget}
	defer r.end() // also when a callback panics or exits the goroutine
	if c.mock != nil {
		r.budget = math.MaxInt // in order, whatever it takes
		r.handOver(c.shards[0], now, limit)
		return
	}
	for {
		s, until := c.foremost()
		if s.nearest.Load() > r.now || !r.handOver(s, until, limit) {
			return
		}
	}
}

// foremost is the shard whose nearest deadline comes first, and the nearest
// deadline of the others.
func (c *core[T]) foremost() (first *shard[T], until int64) {
	first, until = c.shards[0], never
	nearest := first.nearest.Load()
	for _, s := range c.shards[1:] {
		if t := s.nearest.Load(); t < nearest {
			first, nearest, until = s, t, nearest
		} else {
			until = min(until, t)
		}
	}
	return first, until
}

// nearest is a time before which no timer is due.
func (c *core[T]) nearest() int64 {
	t := never
	for _, s := range c.shards {
		t = min(t, s.nearest.Load())
	}
	return t
}

// round is one wake-up at work.
type round[T any] struct {
	core    *core[T]
	now     int64
	budget  int
	count   int  // handed over
	working bool // a callback of Inline was called
}

// handOver hands over what is due on s, at until or before. It is false if the
// wheel was closed meanwhile.
func (r *round[T]) handOver(s *shard[T], until int64, limit uint64) bool {
	c, most := r.core, uint64(math.MaxUint64)
	for !c.closed.Load() {
		v, f, ok, more := s.take(r.now, until, most, r.budget)
		if !ok && !more {
			return true
		}
		if !ok {
			runtime.Gosched()
			continue
		}
		r.dispatch(v, f)
		most = limit
		r.count++
		if r.count%readEvery == 0 && c.mock == nil {
			r.now = c.now()
		}
		if r.count%yieldEvery == 0 {
			runtime.Gosched()
		}
	}
	return false
}

// dispatch has the callback of v called.
func (r *round[T]) dispatch(v T, f level.Flags) {
	c := r.core
	switch {
	case f&flagDirect != 0:
		c.fire(v)
	case c.inline:
		if !r.working {
			r.working = true
			c.work.queue()
			c.work.start()
		}
		c.invoke(v)
	default:
		c.execute(c.task(v))
	}
}

// task is what an executor gets to call.
func (c *core[T]) task(v T) func() {
	c.work.queue()
	c.work.handed.Store(true)
	return func() {
		c.work.start()
		defer c.work.finish()
		if c.mock != nil {
			c.mock.Run(func() { c.invoke(v) })
			return
		}
		c.invoke(v)
	}
}

// end ends the wake-up.
func (r *round[T]) end() {
	if r.working {
		r.core.work.finish()
	}
	r.core.aim((*waker).sleep)
}

// aim aims the alarm at what comes next by means of one of two methods of the
// waker. A timer set by another goroutine meanwhile may have left the alarm
// alone, so after aiming the shards are looked at once more.
func (c *core[T]) aim(aim func(w *waker, nearest int64, pending bool)) {
	nearest := c.nearest()
	aim(&c.waker, nearest, nearest != never || c.waiting())
	if again := c.nearest(); again < nearest {
		c.waker.nearer(again)
	}
}

// waiting tells whether any timer waits for its deadline: one that is held,
// while its callback runs, does not.
func (c *core[T]) waiting() bool {
	for _, s := range c.shards {
		s.mu.Lock()
		waits := s.timers != nil && s.timers.occupied != 0
		s.mu.Unlock()
		if waits {
			return true
		}
	}
	return false
}

// stepped is a wheel as its mock clock sees it.
type stepped[T any] struct{ c *core[T] }

func (w stepped[T]) Nearest() (deadline time.Duration, order uint64, ok bool) {
	deadline, order, ok = w.c.shards[0].earliest()
	w.c.aim((*waker).correct)
	return deadline, order, ok
}

func (w stepped[T]) Step(limit uint64) { w.c.wake(limit) }
func (w stepped[T]) Settle() bool      { return w.c.work.settle() }
func (w stepped[T]) Len() int          { return w.c.len() }
