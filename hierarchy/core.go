package hierarchy

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
	"github.com/epicycle-go/epicycle/level"
)

// core is what every kind of wheel is made of: shards with their timers, one aim that
// wakes them all, and the way from a due timer to its callback.
type core[T any] struct {
	layout   circles.Layout
	tuning   circles.Tuning
	clock    clock.Clock
	mock     *onMock     // nil off a mock
	direct   bool        // what is due when it is set is dispatched within the call; see duenow.go
	budget   int         // about how many entries are gone through under one hold of a lock
	together int         // how many timers that are due are taken out under it
	due      []T         // of the round that runs: taken out, and not dispatched yet
	closed   atomic.Bool // among what is never written, as Idle.Touch reads it
	shards   []*shard[T] // a power of two of them

	fire    func(T) // calls the callback
	execute Executor
	inline  bool // execute is Inline

	// Off a mock the wheel does itself what these executors would do, for many tasks at once.
	isGo    bool           // execute is Go
	pool    *executor.Pool // whose function execute is, or nil
	onPanic func(recovered any, stack []byte)

	maxQueued int   // 0: no limit
	waits     waits // nil with Go and Inline

	touch func(T) // reads what v points to; nil if that is not known

	// Both are nil, or called with the shard's lock held.
	onFire   func(shard int, i uint32) // before a timer fires
	onDetach func(shard int)           // when all timers of the shard are taken out at once

	spread atomic.Bool // set for good once several processors use the wheel
	usage  usage       // guarded by the lock of the first shard

	quota     quota
	aim       aim
	inFlight  inFlight
	waking    int64 // when the timer was due whose callback a round calls itself, for that callback
	panics    atomic.Uint64
	skipped   atomic.Uint64 // runs that repeaters missed
	done      chan struct{} // closed by stop
	ending    sync.Once
	stoppedAt atomic.Int64 // if closed
	telling   inFlight     // the round of stop that calls callbacks
}

func newCore[T any](cfg Config, fire func(T)) (*core[T], error) {
	if fire == nil {
		return nil, ErrNilFunc
	}
	few := 0
	if cfg.Precision == 0 {
		few = defaultFew
	}
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	c := &core[T]{
		layout: circles.NewLayout(cfg.Interval), tuning: circles.DefaultTuning(),
		clock: cfg.Clock, fire: fire, execute: cfg.Executor, inline: isInline(cfg.Executor),
		onPanic: cfg.OnPanic, quota: quota{limit: int64(cfg.MaxPending)}, maxQueued: cfg.MaxQueued,
		done: make(chan struct{}),
	}
	for i := range cfg.Shards {
		s := &shard[T]{core: c, number: int32(i), limited: cfg.MaxPending > 0}
		s.notBefore.store(none)
		c.shards = append(c.shards, s)
	}
	c.aim.near = c.near
	c.aim.init(c.clock.NewAlarm(c.wake), cfg.Precision, few, clock.Virtual(c.clock))
	c.expectReview()
	c.mock = attach(c)
	if c.mock == nil {
		c.isGo, c.pool = isGo(cfg.Executor), executor.PoolOf(cfg.Executor)
		c.direct = c.isGo || c.pool != nil
	}
	c.budget, c.together = batch, 1
	switch {
	case c.mock != nil:
		c.budget = circles.Unlimited // its timers fire in exact order
	case c.direct:
		c.together = popTogether
	}
	if !c.isGo && !c.inline {
		c.waits = newWaits(len(c.shards), c.clock)
	}
	return c, nil
}

// toucher is what reads the memory of a timer of t that will soon be due.
func (c *core[T]) toucher(t *timers.Timers[T]) func(i uint32) {
	if c.touch == nil {
		return t.Touch
	}
	return func(i uint32) { c.touch(*t.Value(i)) }
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

// add sets a timer, d after now. It uses the first shard until several processors are seen
// to use the wheel, and then the shard of the running processor.
//
// This is the hottest path, and it is kept flat: a function call costs as much as a tenth
// of a lock.
func (c *core[T]) add(v T, now int64, d time.Duration, f level.Flags) (Timer, error) {
	if d <= 0 {
		return c.addDue(v, now, f)
	}
	deadline := deadlineAfter(now, d)
	s := c.shards[0]
	if c.spread.Load() {
		s = lockOwn(c.shards)
	} else {
		if !s.mu.TryLock() {
			s.mu.wait()
			if len(c.shards) > 1 {
				c.usage.meet(&c.spread)
			}
		}
		if s.sequence%sampleEvery == 0 && len(c.shards) > 1 {
			c.usage.sample(&c.spread)
		}
	}
	if err := s.admit(f); err != nil {
		s.mu.Unlock()
		return Timer{}, err
	}
	i, generation, wakeAt := s.set(v, now, deadline, f)
	s.unlock(wakeAt)
	return Timer{s, generation, i}, nil
}

// len is the number of pending timers.
func (c *core[T]) len() int {
	requireMade(c != nil, "wheel")
	n := 0
	for _, s := range c.shards {
		s.mu.Lock()
		n += s.timers.Len()
		s.mu.Unlock()
	}
	return n
}

// guard calls fn and passes its panic to OnPanic, if there is one.
func (c *core[T]) guard(fn func(T), v T) {
	if c.onPanic != nil {
		defer c.recovered()
	}
	fn(v)
}

// invoke calls the callback of v.
func (c *core[T]) invoke(v T) { c.guard(c.fire, v) }

func (c *core[T]) recovered() {
	if r := recover(); r != nil {
		c.panics.Add(1)
		c.onPanic(r, debug.Stack())
	}
}
