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

// forever is the largest Duration: where time ends.
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

// diary is a list that many may write to.
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

// returns requires that f comes to an end. Its patience bounds a hang.
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
		t.Fatal("it hangs")
	}
}

// handClock is a clock that is moved by hand, and whose one alarm is rung by hand.
// It notes what the alarm is aimed at.
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

// target is what the alarm is aimed at, and whether it is.
func (c *handClock) target() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aim, c.aimed
}

// moveTo moves the clock. Nothing rings.
func (c *handClock) moveTo(elapsed time.Duration) {
	c.mu.Lock()
	c.elapsed = max(c.elapsed, elapsed)
	c.mu.Unlock()
}

// ringNow rings the alarm, whatever it is aimed at.
func (c *handClock) ringNow() {
	c.mu.Lock()
	c.aimed = false
	c.rung = append(c.rung, c.elapsed)
	c.mu.Unlock()
	c.ring()
}

// runTo rings the alarm at each time that it is aimed at, to the nanosecond, until
// the clock has come to the end.
func (c *handClock) runTo(end time.Duration) {
	for at, aimed := c.target(); aimed && at <= end; at, aimed = c.target() {
		c.moveTo(at)
		c.ringNow()
	}
	c.moveTo(end)
}

// canceled is a context that is over.
func canceled() context.Context {
	c, cancel := context.WithCancel(context.Background())
	cancel()
	return c
}
