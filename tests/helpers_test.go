package tests

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// forever is the largest Duration, the end of time.
const forever = time.Duration(1<<63 - 1)

func newWheel(t *testing.T, cfg hierarchy.Config) *hierarchy.Wheel {
	t.Helper()
	w, err := hierarchy.New(cfg)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

func newKeyed(t *testing.T, cfg hierarchy.Config, fire func(string, int)) *keyed {
	t.Helper()
	w, err := hierarchy.NewKeyed(cfg, fire)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

func newOf[T any](t *testing.T, cfg hierarchy.Config, fire func(T)) *hierarchy.Of[T] {
	t.Helper()
	w, err := hierarchy.NewOf(cfg, fire)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

func mustSet(t *testing.T, w *hierarchy.Wheel, d time.Duration, f func()) hierarchy.Timer {
	t.Helper()
	timer, err := w.AfterFunc(d, f)
	assert.NoError(t, err) // require is not for callbacks
	return timer
}

// diary is a list that several goroutines can append to.
type diary[T any] struct {
	mu   sync.Mutex
	list []T
}

func (d *diary[T]) note(x T) {
	d.mu.Lock()
	d.list = append(d.list, x)
	d.mu.Unlock()
}

func (d *diary[T]) all() []T {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// returns requires that f returns. Its time limit only bounds a hang.
func returns(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the call does not return")
	}
}

// handClock is a clock that tests move. Tests ring its first alarm, that of a wheel, and it records what that is aimed
// at. Its other alarms do nothing.
type handClock struct {
	mu      sync.Mutex
	elapsed time.Duration
	aimed   bool
	aim     time.Duration
	rung    []time.Duration // when the alarm rang
	ring    func()
}

var handEpoch = time.Unix(1_000_000, 0)

func (c *handClock) Now() time.Time { return handEpoch.Add(c.Elapsed()) }

func (c *handClock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

func (c *handClock) NewAlarm(ring func()) clock.Alarm {
	if c.ring != nil {
		return handAlarm{&handClock{}}
	}
	c.ring = ring
	return handAlarm{c}
}

type handAlarm struct{ c *handClock }

func (a handAlarm) Set(elapsed time.Duration) { a.c.note(true, elapsed) }
func (a handAlarm) Stop()                     { a.c.note(false, 0) }

func (c *handClock) note(aimed bool, aim time.Duration) {
	c.mu.Lock()
	c.aimed, c.aim = aimed, aim
	c.mu.Unlock()
}

// target returns the time the alarm is aimed at, and whether it is aimed.
func (c *handClock) target() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aim, c.aimed
}

// moveTo moves the clock without ringing the alarm.
func (c *handClock) moveTo(elapsed time.Duration) {
	c.mu.Lock()
	c.elapsed = max(c.elapsed, elapsed)
	c.mu.Unlock()
}

// ringNow rings the alarm, wherever it is aimed.
func (c *handClock) ringNow() {
	c.mu.Lock()
	c.aimed = false
	c.rung = append(c.rung, c.elapsed)
	c.mu.Unlock()
	c.ring()
}

// runTo moves the clock to end. On the way it rings the alarm at each time that the
// alarm is aimed at, to the nanosecond.
func (c *handClock) runTo(end time.Duration) {
	for at, aimed := c.target(); aimed && at <= end; at, aimed = c.target() {
		c.moveTo(at)
		c.ringNow()
	}
	c.moveTo(end)
}

// canceled returns a canceled context.
func canceled() context.Context {
	c, cancel := context.WithCancel(context.Background())
	cancel()
	return c
}
