package partition

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// When the wall clock was set back between two owners, the times of frames stand still. What is
// due after an attempt, and what is revived, goes by the owner's time all the same.
func TestWallClockGoesBackBetweenOwners(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAttempts = 2
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.shut()
	b.mock.Jump(-time.Hour)
	b.open()
	b.set("a", "", time.Second)
	b.mock.Add(time.Second)
	_, left := b.get("a")
	b.Equal(time.Second, left)
	b.mock.Add(time.Second)
	b.Len(b.took(), 2)
	b.True(b.revive("a"))
	b.mock.Add(0)
	b.Equal([]string{"a"}, b.took())
	b.crash()
	b.open()
	b.mock.Add(10 * time.Second)
	b.Equal(map[string]string{"a": ""}, b.keys(true))
}

// The ends of time are times like others.
func TestEndsOfTime(t *testing.T) {
	for _, kind := range []frame.Kind{frame.Set, frame.SetAt} {
		b := newBench(t)
		b.open()
		b.do(core.Op{Kind: kind, Key: []byte("first"), In: math.MinInt64, Due: math.MinInt64})
		b.do(core.Op{Kind: kind, Key: []byte("last"), In: math.MaxInt64, Due: math.MaxInt64})
		_, left := b.get("first")
		b.Zero(left)
		b.mock.Add(0)
		b.Equal([]string{"first"}, b.took(), "%v", kind)
		b.mock.Add(1000 * time.Hour)
		b.Equal(map[string]string{"last": ""}, b.keys(false))
		_, left = b.get("last")
		b.Positive(left)
	}
}

// A Backoff that is as long as can be does not make the next attempt due at once.
func TestBackoffWithoutEnd(t *testing.T) {
	b := newBench(t)
	b.cfg.Backoff = func(int) time.Duration { return math.MaxInt64 }
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.set("a", "", 0)
	b.mock.Add(0)
	b.mock.Add(1000 * time.Hour)
	b.Equal([]string{"a"}, b.took())
}

// stalled is a clock of a process that stands still for an hour between two readings.
type stalled struct {
	clock.Clock
	ahead atomic.Int64
}

func (c *stalled) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.ahead.Load())) }
func (c *stalled) Elapsed() time.Duration {
	defer c.ahead.Add(int64(time.Hour))
	return c.Clock.Elapsed() + time.Duration(c.ahead.Load())
}

// An owner's time is not ahead of the wall clock, even if the process stood still while it was
// made.
func TestOwnersTimeIsNotAhead(t *testing.T) {
	c := &stalled{Clock: clock.NewMock()}
	own := newOwnTime(c, math.MinInt64, 0)
	now := own.now()
	if wall := c.Now().UnixNano(); now > wall {
		t.Fatalf("%v ahead", time.Duration(now-wall))
	}
}

// pausing is a clock of a process that stands still once, for an hour, after it has read the wall clock.
type pausing struct {
	*clock.Mock
	paused bool
}

func (c *pausing) Now() time.Time {
	now := c.Mock.Now()
	if !c.paused {
		c.paused = true
		c.Add(time.Hour)
	}
	return now
}

// A pause between the readings of the two clocks does not make an owner's time late by it.
func TestOwnersTimeIsNotBehindByAPause(t *testing.T) {
	c := &pausing{Mock: clock.NewMock()}
	own := newOwnTime(c, math.MinInt64, 0)
	if skew := own.skew(); skew != 0 {
		t.Fatalf("%v behind", time.Duration(skew))
	}
}

// An owner whose wall clock is behind begins at the time of the last frame, so what is pending is not late by
// the difference, but no further ahead of its clock than permitted.
func TestOwnersTimeIsNotBeforeTheLastFrame(t *testing.T) {
	for back, ahead := range map[time.Duration]time.Duration{
		-time.Hour: 0, 0: 0, time.Second: time.Second, 5 * time.Second: 5 * time.Second, 2 * time.Hour: 5 * time.Second,
	} {
		b := newBench(t)
		b.cfg.MaxAhead = 5 * time.Second
		b.open()
		b.set("a", "", 2*time.Hour)
		b.crash()
		b.mock.Jump(-back)
		b.open()
		_, left := b.get("a")
		b.Equal(2*time.Hour+back-ahead, left, back)
		b.Equal(-ahead, b.p.Stats().Skew, back)
		b.Equal(ahead, b.p.Ahead(), back)
		b.mock.Add(left - 1)
		b.Empty(b.took())
		b.mock.Add(1)
		b.Equal([]string{"a"}, b.took())
	}
}

// A clock that is ahead is not handed on: each owner may be ahead of its own by what is permitted, and of no
// owner before.
func TestOwnersTimeDoesNotRunAway(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAhead = 5 * time.Second
	for range 10 { // in turn ahead and right
		b.mock.Jump(3 * time.Second)
		b.open()
		b.Zero(b.p.Stats().Skew)
		b.set("a", "", time.Minute)
		b.crash()
		b.mock.Jump(-3 * time.Second)
		b.open()
		b.set("a", "", time.Minute)
		b.Equal(-3*time.Second, b.p.Stats().Skew)
		b.crash()
	}
}

// A log is not taken over by a clock that does not fit, and nothing is written to it.
func TestClockThatDoesNotFit(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "", time.Minute)
	b.crash()
	log := b.disk.Open()
	before, err := log.Bounds(t.Context())
	b.NoError(err)
	b.cfg.Fits = func() error { return errHandler }
	b.ErrorIs(b.tryOpen(), errHandler)
	after, err := log.Bounds(t.Context())
	b.NoError(err)
	b.Equal(before, after)
	b.cfg.Fits = nil
	b.open()
	_, left := b.get("a")
	b.Equal(time.Minute, left)
}

// Set's timers do not follow the wall clock, and SetAt's do.
func TestWallClockIsSet(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		b := newBench(t)
		b.open()
		b.set("a", "1", time.Minute)
		b.setAt("b", "1", b.mock.Now().Add(2*time.Minute))
		b.mock.Jump(jump)
		b.mock.Add(0)
		_, left := b.get("a")
		b.Equal(time.Minute, left)
		b.move("x", 0)
		b.set("y", "", 2*time.Hour) // has the alarm aimed anew
		b.mock.Add(time.Minute)
		if jump > 0 {
			b.Equal([]string{"b", "a"}, b.took())
			continue
		}
		b.Equal([]string{"a"}, b.took())
		b.mock.Add(time.Hour)
		b.Empty(b.took())
		b.mock.Add(time.Minute)
		b.Equal([]string{"b"}, b.took())
	}
}

// On a mock clock a jump is seen at once.
func TestJumpOfAMock(t *testing.T) {
	b := newBench(t)
	b.open()
	for i := range 2 {
		b.setAt("a", "", b.mock.Now().Add(time.Hour))
		b.mock.Jump(time.Hour - time.Second)
		b.mock.Add(time.Second - 1)
		b.Empty(b.took(), i)
		b.mock.Add(1)
		b.Equal([]string{"a"}, b.took())
		b.setAt("b", "", b.mock.Now().Add(time.Hour))
		b.mock.Jump(-time.Hour)
		b.mock.Add(2*time.Hour - 1)
		b.Empty(b.took(), i)
		b.mock.Add(1)
		b.Equal([]string{"b"}, b.took())
		b.shut()
		b.mock.Jump(time.Minute)
		b.open()
	}
}

// After the wall clock went forward and back, timers are not early.
func TestWallClockGoesBackAfterFiring(t *testing.T) {
	b := newBench(t)
	b.open()
	begun := b.mock.Now()
	b.mock.Jump(time.Hour)
	b.setAt("a", "", begun)
	b.mock.Add(0)
	b.Equal([]string{"a"}, b.took())
	b.mock.Jump(-time.Hour)
	b.setAt("b", "", begun.Add(30*time.Minute))
	b.mock.Add(0)
	b.Empty(b.took())
	b.mock.Add(30 * time.Minute)
	b.Equal([]string{"b"}, b.took())
}

// Timers are in order and exact also if the wall clock goes back again and again, by little or much.
func TestWallClockGoesBackInSteps(t *testing.T) {
	for _, step := range []time.Duration{time.Microsecond, time.Millisecond, time.Second, time.Hour} {
		b := newBench(t)
		b.open()
		for i := range 10 {
			b.setAt("a", "", b.mock.Now())
			b.mock.Add(0)
			b.Equal([]string{"a"}, b.took())
			b.mock.Jump(-step)
			part := step / 4
			b.setAt("d", "", b.mock.Now().Add(3*part))
			b.setAt("b", "", b.mock.Now().Add(part))
			b.setAt("c", "", b.mock.Now().Add(2*part))
			for _, key := range []string{"b", "c", "d"} {
				b.mock.Add(part - 1)
				b.Empty(b.took(), "%v %v", step, i)
				b.mock.Add(1)
				b.Equal([]string{key}, b.took(), "%v %v", step, i)
			}
		}
	}
}

// An owner goes by its wall clock at the takeover, also if that was set since it began to read the log.
func TestOwnersTimeIsThatOfTheTakeover(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "", 2*time.Hour)
	f := b.follow()
	b.mock.Jump(time.Hour)
	b.own(f)
	b.Equal(b.mock.Now().UnixNano(), b.p.time.now())
	_, left := b.get("a")
	b.Equal(time.Hour, left)
}
