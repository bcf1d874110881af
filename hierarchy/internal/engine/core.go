package engine

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
	"github.com/epicycle-go/epicycle/level/arena"
)

// Core is the common part of all kinds of wheels: shards with their timers, one aim that wakes them all, and the code
// that calls the callback of a timer that is due.
type Core[T any] struct {
	layout   circles.Layout
	Tuning   circles.Tuning
	clock    clock.Clock
	mock     *onMock     // nil if the clock is not a mock
	direct   bool        // timers that are due when they are set are dispatched within the call; see duenow.go
	budget   int         // about the most entries that are visited under one hold of a lock
	together int         // most due timers that are taken out under one hold of a lock
	due      []T         // values of timers that the present round has taken out and not yet dispatched
	closed   atomic.Bool // placed among fields that are never written, since Idle.Touch reads it
	Shards   []*Shard[T] // their number is a power of two

	fire    func(T) // calls the callback
	execute func(task func())
	inline  bool // execute is Inline

	// If the clock is not a mock, the wheel itself does what these executors would do, for many tasks at once.
	isGo    bool           // execute is Go
	pool    *executor.Pool // the Pool whose function execute is, or nil
	onPanic func(recovered any, stack []byte)

	maxQueued int   // 0 if there is no limit
	waits     waits // nil with Go and Inline

	Touch func(T) // reads the memory to which a value points; nil if values are of an unknown type

	// These are nil, or called with the shard's lock held.
	OnSet    func(shard int, i uint32) // called when AddHere has set a timer
	OnFire   func(shard int, i uint32) // called before a timer fires
	OnDetach func(shard int)           // called when all timers of the shard are taken out at once

	spread atomic.Bool // set for good once several processors use the wheel
	usage  usage       // guarded by the lock of the first shard

	quota     quota
	aim       aim
	inFlight  inFlight
	left      left[T]
	waking    int64 // deadline of the timer with RunInWake whose callback a round is calling; only that callback reads it
	panics    atomic.Uint64
	skipped   atomic.Uint64 // runs that repeaters missed
	done      chan struct{} // closed by Stop
	ending    sync.Once
	stoppedAt atomic.Int64 // elapsed time of Stop; set before closed becomes true
	telling   inFlight     // counts the round in which Stop calls callbacks
}

// Config is the configuration of a Core. All fields have been checked, and defaults are set.
type Config struct {
	Interval, Precision time.Duration
	Few                 int // largest number of timers due within one precision that are not gathered
	Clock               clock.Clock
	Execute             func(task func())
	IsGo, IsInline      bool           // whether Execute is Go, and whether it is Inline
	Pool                *executor.Pool // the Pool whose function Execute is, or nil
	MaxPending          int            // 0 if there is no limit
	MaxQueued           int            // 0 if there is no limit
	Shards              int            // a power of two
	OnPanic             func(recovered any, stack []byte)
}

// New makes a wheel that calls fire with the value of each timer.
func New[T any](cfg Config, fire func(T)) *Core[T] {
	c := &Core[T]{
		layout: circles.NewLayout(cfg.Interval), Tuning: circles.DefaultTuning(),
		clock: cfg.Clock, fire: fire, execute: cfg.Execute, inline: cfg.IsInline,
		onPanic: cfg.OnPanic, quota: quota{limit: int64(cfg.MaxPending)}, maxQueued: cfg.MaxQueued,
		done: make(chan struct{}),
	}
	for i := range cfg.Shards {
		s := &Shard[T]{Core: c, number: int32(i), limited: cfg.MaxPending > 0 || cfg.MaxQueued > 0}
		s.Mu.is(shardRank, i)
		s.notBefore.store(none)
		c.Shards = append(c.Shards, s)
	}
	c.aim.near = c.near
	c.aim.init(c.clock.NewAlarm(c.wake), cfg.Precision, cfg.Few, clock.Virtual(c.clock))
	c.expectReview()
	c.mock = attach(c)
	if c.mock == nil {
		c.isGo, c.pool = cfg.IsGo, cfg.Pool
		c.direct = c.isGo || c.pool != nil
	}
	c.expectLeft()
	c.budget, c.together = batch, 1
	switch {
	case c.mock != nil:
		c.budget = circles.Unlimited // timers on a mock fire in exact order
	case c.direct:
		c.together = popTogether
	}
	if !c.isGo && !c.inline {
		c.waits = newWaits(len(c.Shards), c.clock)
	}
	return c
}

// toucher returns a function that reads the memory of timers of t that will soon be due.
func (c *Core[T]) toucher(t *timers.Timers[T]) func(timers []uint32) {
	if c.Touch == nil {
		return t.Touch
	}
	return func(timers []uint32) {
		for _, i := range timers {
			c.Touch(*t.Value(i))
		}
	}
}

// Add sets a timer, d after now. Add uses the first shard until several processors are seen to use the wheel. From then
// on it uses the shard of the running processor.
//
// This is the hottest path, and it is kept flat: a function call costs as much as a tenth of a lock.
func (c *Core[T]) Add(v T, now int64, d time.Duration, f arena.Flags) (Handle, error) {
	if d <= 0 {
		return c.addDue(v, now, f)
	}
	deadline := DeadlineAfter(now, d)
	s := c.Shards[0]
	if c.spread.Load() {
		s = lockOwn(c.Shards)
	} else {
		if !s.Mu.TryLock() {
			s.Mu.wait()
			if len(c.Shards) > 1 {
				c.usage.meet(&c.spread)
			}
		}
		if s.Sequence%sampleEvery == 0 && len(c.Shards) > 1 {
			c.usage.sample(&c.spread)
		}
	}
	if err := s.admit(f, true); err != nil {
		s.Mu.Unlock()
		return Handle{}, err
	}
	i, generation, wakeBy := s.set(v, now, deadline, f)
	s.unlockFor(wakeBy)
	return Handle{s, generation, i}, nil
}

// lockAny locks the shard that Add would use.
func (c *Core[T]) lockAny() *Shard[T] {
	if c.spread.Load() {
		return lockOwn(c.Shards)
	}
	s := c.Shards[0]
	s.Mu.Lock()
	if s.Sequence%sampleEvery == 0 && len(c.Shards) > 1 {
		c.usage.sample(&c.spread)
	}
	return s
}

// AddOnStop is Add for a timer that is not due yet, with RunInWake and CallOnStop. crowded reports whether it should not
// stay longer than it is needed: its shard has more than most of these timers, or the wheel has a limit.
func (c *Core[T]) AddOnStop(v T, now, deadline int64, most int) (r Ref, crowded bool, err error) {
	s := c.lockAny()
	if err := s.admit(RunInWake, true); err != nil {
		s.Mu.Unlock()
		return Ref{}, false, err
	}
	i, generation, wakeBy := s.set(v, now, deadline, RunInWake|CallOnStop)
	crowded = s.onStop > most || c.quota.limit > 0
	s.unlockFor(wakeBy)
	return Ref{generation, i, uint32(s.number)}, crowded, nil
}

// Len returns the number of pending timers.
func (c *Core[T]) Len() int {
	RequireMade(c != nil, "wheel")
	n := 0
	for _, s := range c.Shards {
		s.Mu.Lock()
		n += s.Timers.Len()
		s.Mu.Unlock()
	}
	return n
}

// guard calls fn and passes its panic to OnPanic, if there is one.
func (c *Core[T]) guard(fn func(T), v T) {
	if c.onPanic != nil {
		defer c.recovered()
	}
	fn(v)
}

// invoke calls the callback of v.
func (c *Core[T]) invoke(v T) { c.guard(c.fire, v) }

func (c *Core[T]) recovered() {
	if r := recover(); r != nil {
		c.panics.Add(1)
		c.onPanic(r, debug.Stack())
	}
}
