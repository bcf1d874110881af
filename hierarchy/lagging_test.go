package hierarchy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

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

// periods returns periods from 100µs to 10ms, some of them multiples of the Precision.
func periods() (all []time.Duration) {
	for p := 100 * time.Microsecond; p <= 10*time.Millisecond; p += 100 * time.Microsecond {
		all = append(all, p)
	}
	return all
}

// If the period is a multiple of the Precision, a run is late by the latency of one
// wake-up only.
func TestLatenciesOfWakeUpsDoNotAddUp(t *testing.T) {
	repeat := map[string]func(w *hierarchy.Wheel, period time.Duration, f func()){
		"Every": func(w *hierarchy.Wheel, period time.Duration, f func()) { every(t, w, period, f) },
		"Schedule": func(w *hierarchy.Wheel, period time.Duration, f func()) {
			schedule(t, w, planned(func(now time.Time) time.Time {
				return time.Unix(0, (now.UnixNano()/int64(period)+1)*int64(period))
			}), f)
		},
		"AfterFunc": func(w *hierarchy.Wheel, period time.Duration, f func()) {
			var again func()
			next := period
			again = func() {
				f()
				next += period
				_, _ = w.At(time.Unix(0, int64(next)), again)
			}
			_, _ = w.At(time.Unix(0, int64(next)), again)
		},
	}
	for name, start := range repeat {
		for _, period := range periods() {
			for _, precision := range []time.Duration{0, time.Millisecond} {
				if period < time.Millisecond {
					continue
				}
				w, c := withPrecision(t, precision)
				runs := 0
				start(w, period, func() {
					runs++
					if due := time.Duration(runs) * period; c.elapsed != due+lag {
						t.Fatalf("%s(%v): run %d came at %v", name, period, runs, c.elapsed)
					}
				})
				c.runTo(2*time.Second + lag)
				require.EqualValues(t, 2*time.Second/period, runs, "%s(%v)", name, period)
			}
		}
	}
}

func TestLatenciesOfTicksDoNotAddUp(t *testing.T) {
	for _, period := range periods() {
		if period < time.Millisecond {
			continue
		}
		w, c := onLaggingClock(t)
		ticker, err := w.NewTicker(period)
		require.NoError(t, err)
		for n := range time.Second / period {
			c.runTo((n+1)*period + lag)
			select {
			case at := <-ticker.C:
				require.Equal(t, c.Now().Add(-lag), at, "when it was due")
			default:
				t.Fatalf("period %v: tick %d did not come", period, n+1)
			}
		}
		w.Stop()
	}
}

// However many repeaters a wake-up gathers, none skips a run, and none is later than one
// Precision plus the latency.
func TestGatheringSkipsNoRun(t *testing.T) {
	for _, n := range []int{2, 3, 100} {
		for _, period := range periods() {
			if period < time.Millisecond {
				continue
			}
			requireAllRuns(t, n, period)
		}
	}
}

// requireAllRuns starts n repeaters with one period, one after the other, and requires a
// hundred runs of each.
func requireAllRuns(t *testing.T, n int, period time.Duration) {
	const jitter = 50 * time.Microsecond
	w, c := onLaggingClock(t)
	defer w.Stop()
	c.jitter = jitter
	runs, begun := make([]int, n), make([]time.Duration, n)
	for i := range n {
		c.runTo(c.elapsed + 7*time.Microsecond)
		begun[i] = c.elapsed
		every(t, w, period, func() {
			runs[i]++
			due := begun[i] + time.Duration(runs[i])*period
			if late := c.elapsed - due; late < 0 || late > time.Millisecond+lag+jitter {
				t.Fatalf("%d repeaters, period %v: run %d of repeater %d is late by %v", n, period, runs[i], i, late)
			}
		})
	}
	end := begun[n-1] + 100*period
	c.runTo(end + time.Millisecond + lag + jitter)
	for i := range n {
		require.GreaterOrEqual(t, runs[i], int((end-begun[i])/period), "runs of repeater %d of %d, period %v", i, n, period)
	}
	require.Zero(t, w.Stats().Skipped)
	most := uint64(c.elapsed/time.Millisecond) + 2
	if n < 5 { // they are no crowd
		most = w.Stats().Fired
	}
	require.LessOrEqual(t, w.Stats().Wakeups, most, fmt.Sprint(period))
}
