package repeating

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

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
		"Every": func(w *hierarchy.Wheel, period time.Duration, f func()) { wheeltest.Every(t, w, period, f) },
		"Schedule": func(w *hierarchy.Wheel, period time.Duration, f func()) {
			wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time {
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
				w, c := wheeltest.OnLaggingClock(t, precision)
				runs := 0
				start(w, period, func() {
					runs++
					if due := time.Duration(runs) * period; c.Elapsed() != due+wheeltest.Lag {
						t.Fatalf("%s(%v): run %d came at %v", name, period, runs, c.Elapsed())
					}
				})
				c.RunTo(2*time.Second + wheeltest.Lag)
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
		w, c := wheeltest.OnLaggingClock(t, 0)
		ticker, err := w.NewTicker(period)
		require.NoError(t, err)
		for n := range time.Second / period {
			c.RunTo((n+1)*period + wheeltest.Lag)
			select {
			case at := <-ticker.C:
				require.Equal(t, c.Now().Add(-wheeltest.Lag), at, "when it was due")
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
	w, c := wheeltest.OnLaggingClock(t, 0)
	defer w.Stop()
	c.Jitter = jitter
	runs, begun := make([]int, n), make([]time.Duration, n)
	for i := range n {
		c.RunTo(c.Elapsed() + 7*time.Microsecond)
		begun[i] = c.Elapsed()
		wheeltest.Every(t, w, period, func() {
			runs[i]++
			due := begun[i] + time.Duration(runs[i])*period
			if late := c.Elapsed() - due; late < 0 || late > time.Millisecond+wheeltest.Lag+jitter {
				t.Fatalf("%d repeaters, period %v: run %d of repeater %d is late by %v", n, period, runs[i], i, late)
			}
		})
	}
	end := begun[n-1] + 100*period
	c.RunTo(end + time.Millisecond + wheeltest.Lag + jitter)
	for i := range n {
		require.GreaterOrEqual(t, runs[i], int((end-begun[i])/period), "runs of repeater %d of %d, period %v", i, n, period)
	}
	require.Zero(t, w.Stats().Skipped)
	most := uint64(c.Elapsed()/time.Millisecond) + 2
	if n < 5 { // they are no crowd
		most = w.Stats().Fired
	}
	require.LessOrEqual(t, w.Stats().Wakeups, most, fmt.Sprint(period))
}
