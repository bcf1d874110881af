package hierarchy

import (
	"context"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/level"
)

// core is what every kind of wheel is made of: shards with their circles, one
// alarm that wakes them all, and the way from a due timer to its callback.
type core[T any] struct {
	layout layout
	clock  clock.Clock
	alarm  clock.Alarm
	mock   *clock.MockAlarm // alarm, if it is one; else nil
	shards []*shard[T]      // a power of two of them

	fire    func(T) // calls the callback
	execute Executor
	inline  bool // execute is Inline
	onPanic func(recovered any, stack []byte)
	leaves  func(shard int, i uint32) // nil, or told with the lock held what is about to fire,
	cleared func(shard int)           // and when all timers go at once

	spread atomic.Bool // set for good once several processors use the wheel
	usage  usage       // guarded by the lock of the first shard

	places  places
	waker   waker
	work    work
	panics  atomic.Uint64
	skipped atomic.Uint64 // runs that repeaters missed
	closed  atomic.Bool
	done    chan struct{} // closed by stop
	ending  sync.Once
}

func newCore[T any](cfg Config, fire func(T)) (*core[T], error) {
	if fire == nil {
		return nil, ErrNilFunc
	}
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	c := &core[T]{
		layout: newLayout(cfg.Interval), clock: cfg.Clock, fire: fire,
		execute: cfg.Executor, inline: isInline(cfg.Executor), onPanic: cfg.OnPanic,
		places: places{limit: int64(cfg.MaxPending)}, done: make(chan struct{}),
	}
	for i := range cfg.Shards {
		s := &shard[T]{core: c, number: int32(i), limited: cfg.MaxPending > 0}
		s.notBefore.Store(never)
		c.shards = append(c.shards, s)
	}
	c.alarm = c.clock.NewAlarm(func() { c.wake(math.MaxUint64) })
	c.waker.init(c.alarm, cfg.Precision, clock.Virtual(c.clock))
	if a, ok := c.alarm.(*clock.MockAlarm); ok {
		c.mock = a
		a.Attach(stepped[T]{c})
	}
	return c, nil
}

// now is the elapsed time of the wheel's clock.
func (c *core[T]) now() int64 {
	requireMade(c != nil, "wheel")
	return int64(c.clock.Elapsed())
}

// wall is the wall time of the wheel's clock.
func (c *core[T]) wall() time.Time {
	requireMade(c != nil, "wheel")
	return c.clock.Now()
}

// over tells whether the wheel is stopped.
func (c *core[T]) over() bool {
	requireMade(c != nil, "wheel")
	return c.closed.Load()
}

// add sets a timer, d after now: on the first shard, until the wheel is seen to
// be used by several processors, then on that of the running processor.
//
// It is the hottest path of all, and kept flat: a call costs as much as a tenth
// of a lock.
func (c *core[T]) add(v T, now int64, d time.Duration, f level.Flags) (Timer, error) {
	deadline := deadlineAfter(now, d)
	s := c.shards[0]
	if c.spread.Load() {
		s = c.lockOwnShard()
	} else {
		s.mu.Lock()
		if s.sequence%sampleEvery == 0 && len(c.shards) > 1 {
			c.usage.sample(&c.spread)
		}
	}
	if err := c.admit(s, f); err != nil {
		s.mu.Unlock()
		return Timer{}, err
	}
	i, generation, soonest := s.insert(v, now, deadline, f)
	earlier := s.lower(soonest)
	s.mu.Unlock()
	if earlier || c.mock != nil {
		c.announce(earlier, soonest)
	}
	return Timer{s, generation, i}, nil
}

// lockOwnShard locks the shard of the running processor. If another one has it
// locked, this processor moves on to the next shard for good, so that in the
// end each has one for itself.
func (c *core[T]) lockOwnShard() *shard[T] {
	t := tokens.Get().(*token)
	defer tokens.Put(t)
	s := c.shards[t.number&(len(c.shards)-1)]
	if s.mu.TryLock() {
		return s
	}
	t.number++
	s = c.shards[t.number&(len(c.shards)-1)]
	s.mu.Lock()
	return s
}

// admit tells whether s may take one more timer, and takes a place for it. The
// lock of s must be held.
func (c *core[T]) admit(s *shard[T], f level.Flags) error {
	if s.closed {
		return ErrClosed
	}
	if f&flagTenant == 0 && !c.places.take() {
		return ErrFull
	}
	return nil
}

// announce follows the setting of a timer, with no lock held: it aims the
// alarm, if that may be needed, and tells a mock.
func (c *core[T]) announce(earlier bool, deadline int64) {
	if earlier {
		c.waker.consider(deadline)
	}
	if c.mock != nil {
		c.mock.Noted()
	}
}

// len is the number of pending timers.
func (c *core[T]) len() int {
	requireMade(c != nil, "wheel")
	n := 0
	for _, s := range c.shards {
		s.mu.Lock()
		n += s.timers.len()
		s.mu.Unlock()
	}
	return n
}

// stop drops all pending timers and lets no more be set. It is what makes the
// wheel let go of its clock.
func (c *core[T]) stop() {
	requireMade(c != nil, "wheel")
	c.ending.Do(func() {
		c.closed.Store(true)
		var told []T
		for _, s := range c.shards {
			s.mu.Lock()
			s.closed = true
			tell := s.told > 0
			detached, n := s.detach()
			s.counts.dropped += uint64(n)
			s.mu.Unlock()
			if tell {
				told = append(told, detached.flagged(flagTold)...)
			}
		}
		c.waker.stop()
		if c.mock != nil {
			c.mock.Detach()
		}
		close(c.done)
		for _, v := range told {
			c.invoke(v)
		}
	})
}

// guard calls fn as a callback.
func (c *core[T]) guard(fn func(T), v T) {
	if c.onPanic != nil {
		defer c.recovered()
	}
	fn(v)
}

// shutdown stops the wheel and waits for callbacks that were handed over.
func (c *core[T]) shutdown(ctx context.Context) error {
	c.stop()
	return c.work.wait(ctx)
}

// invoke calls the callback of v.
func (c *core[T]) invoke(v T) { c.guard(c.fire, v) }

func (c *core[T]) recovered() {
	if r := recover(); r != nil {
		c.panics.Add(1)
		c.onPanic(r, debug.Stack())
	}
}
