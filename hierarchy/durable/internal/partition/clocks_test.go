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
