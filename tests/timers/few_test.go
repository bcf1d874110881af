package timers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Loops that wait for a short time, few at once, are never held up, however often they wait.
func TestShortWaitsOfFew(t *testing.T) {
	for _, loops := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			const d, n = 20 * time.Microsecond, 1000
			w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
			wheeltest.Set(t, w, time.Hour, nop)
			start := time.Now()
			for range loops {
				go func() {
					for range n {
						_ = w.Sleep(context.Background(), d)
					}
				}()
				time.Sleep(time.Microsecond)
			}
			synctest.Wait()
			wheeltest.Pass(n*d + 10*time.Microsecond)
			synctest.Wait()
			st := w.Stats()
			require.EqualValues(t, loops*n, st.Fired, time.Since(start))
			require.Zero(t, st.Lateness.Max())
			require.LessOrEqual(t, st.Wakeups, st.Fired)
		})
	}
}

// Many timers far away, and many that have moved far away, are no crowd beside a loop.
func TestShortWaitsBesideMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
		for i := range 5000 {
			timer := wheeltest.Set(t, w, time.Second+time.Duration(i*7919%5000)*time.Microsecond, nop)
			if i > 2500 {
				require.True(t, timer.Reset(time.Minute))
			}
			wheeltest.Set(t, w, time.Hour, nop)
		}
		for range 1000 {
			before := time.Now()
			require.NoError(t, w.Sleep(t.Context(), 20*time.Microsecond))
			require.Equal(t, 20*time.Microsecond, time.Since(before))
		}
	})
}

// A crowd at random deadlines costs about one wake-up for each Precision, wherever its timers
// are: in fine slots or in a coarse one, in order or not.
func TestCrowdsAreGathered(t *testing.T) {
	const rate, seconds = 20, 4 // timers in a millisecond
	for name, deadline := range map[string]func(i int) time.Duration{
		"in order": func(i int) time.Duration { return time.Duration(i) * time.Millisecond / rate },
		"at random": func(i int) time.Duration {
			return time.Duration(i*7919%(rate*1000*seconds)) * time.Millisecond / rate
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := wheeltest.OnLaggingClock(t, 0)
			for i := range rate * 1000 * seconds {
				wheeltest.Set(t, w, deadline(i), nop)
			}
			c.RunTo(seconds*time.Second + time.Millisecond + wheeltest.Lag)
			st := w.Stats()
			require.Zero(t, st.Pending)
			require.LessOrEqual(t, st.Wakeups, uint64(seconds*1100))
			require.LessOrEqual(t, st.Lateness.Max(), time.Millisecond+wheeltest.Lag)
		})
	}
}

// Wake-ups for timers that were stopped come hardly more often than one in each Precision.
func TestWakeUpsInVainAreFew(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	const n = 20_000
	for range n {
		timer := wheeltest.Set(t, w, 20*time.Microsecond, nop)
		c.RunTo(c.Elapsed() + 10*time.Microsecond)
		require.True(t, timer.Stop())
		c.RunTo(c.Elapsed() + 40*time.Microsecond)
	}
	require.LessOrEqual(t, w.Stats().Wakeups, uint64(c.Elapsed()/time.Millisecond)+10)
}
