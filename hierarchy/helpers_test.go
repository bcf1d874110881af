package hierarchy_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// pass lets d pass in a synctest bubble and waits until all goroutines block.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// every starts a Repeater.
func every(t *testing.T, w *hierarchy.Wheel, period time.Duration, f func()) *hierarchy.Repeater {
	t.Helper()
	r, err := w.Every(period, f)
	require.NoError(t, err)
	return r
}

// planned is a function that implements Schedule.
type planned func(time.Time) time.Time

func (p planned) Next(t time.Time) time.Time { return p(t) }

// schedule starts a Repeater.
func schedule(t *testing.T, w *hierarchy.Wheel, s hierarchy.Schedule, f func()) *hierarchy.Repeater {
	t.Helper()
	r, err := w.Schedule(s, f)
	require.NoError(t, err)
	return r
}

// laggingClock rings late by lag, and every second time by jitter more, as real clocks
// do. Tests move it.
type laggingClock struct {
	lag     time.Duration
	jitter  time.Duration
	odd     bool
	elapsed time.Duration
	aimed   bool
	aim     time.Duration
	ring    func()
}

func (c *laggingClock) Now() time.Time         { return time.Unix(0, int64(c.elapsed)) }
func (c *laggingClock) Elapsed() time.Duration { return c.elapsed }
func (c *laggingClock) Set(at time.Duration)   { c.aimed, c.aim = true, at }
func (c *laggingClock) Stop()                  { c.aimed = false }

// NewAlarm returns the clock itself for a wheel, and then alarms that do nothing.
func (c *laggingClock) NewAlarm(ring func()) clock.Alarm {
	if c.ring != nil {
		return &laggingClock{}
	}
	c.ring = ring
	return c
}

// runTo moves the clock to end and rings the alarm on the way.
func (c *laggingClock) runTo(end time.Duration) {
	for c.aimed && c.ringsAt() <= end {
		c.elapsed = max(c.elapsed, c.ringsAt())
		c.aimed, c.odd = false, !c.odd
		c.ring()
	}
	c.elapsed = end
}

func (c *laggingClock) ringsAt() time.Duration {
	if c.odd {
		return c.aim + c.lag + c.jitter
	}
	return c.aim + c.lag
}

const lag = 20 * time.Microsecond

// onLaggingClock makes a wheel with the default Precision of 1ms, which gathers crowds only.
func onLaggingClock(t *testing.T) (*hierarchy.Wheel, *laggingClock) { return withPrecision(t, 0) }

// withPrecision is onLaggingClock with a Precision that was asked for, which gathers all timers, or 0.
func withPrecision(t *testing.T, precision time.Duration) (*hierarchy.Wheel, *laggingClock) {
	c := &laggingClock{lag: lag}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: precision})
	return w, c
}

// rough returns a configuration whose Precision is a minute, so that what is gathered is
// late by a lot.
func rough(executor hierarchy.Executor) hierarchy.Config {
	return hierarchy.Config{
		Clock: clock.System(), Executor: executor, Precision: time.Minute, Interval: time.Hour,
	}
}

// moments is when a function was called.
type moments struct {
	mu sync.Mutex
	at []time.Time // guarded by mu
}

func (m *moments) note() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = append(m.at, time.Now())
}

func (m *moments) since(start time.Time) (all []time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.at {
		all = append(all, t.Sub(start))
	}
	return all
}

func mustSet(t *testing.T, w *hierarchy.Wheel, d time.Duration, f func()) hierarchy.Timer {
	t.Helper()
	timer, err := w.AfterFunc(d, f)
	require.NoError(t, err)
	return timer
}

// executors returns the executors to test under a real clock, by name.
func executors() map[string]hierarchy.Executor {
	return map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Inline": hierarchy.Inline, "Pool": hierarchy.Pool(2),
		"own": func(task func()) { go task() },
	}
}

// requireIdle requires that Shutdown has nothing to wait for.
func requireIdle(t *testing.T, w *hierarchy.Wheel) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, w.Shutdown(ctx))
}
