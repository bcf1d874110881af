package repeating

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Each multiple of the period is either a run or a skipped run.
func TestSlowRunsAreCountedAsSkipped(t *testing.T) {
	for name, executor := range map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Inline": hierarchy.Inline, "Pool": hierarchy.Pool(1),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor})
				runs := 0
				wheeltest.Every(t, w, time.Second, func() {
					if runs++; runs%2 == 0 {
						time.Sleep(3500 * time.Millisecond)
					}
				})
				wheeltest.Pass(100600 * time.Millisecond) // the last slow run ends at 100.5s
				require.EqualValues(t, 60, w.Stats().Skipped, "three runs of five must be skipped")
				require.Equal(t, 40, runs)
			})
		})
	}
}

// If the period is below the Precision, one repeater makes all its runs, each in a wake-up of its
// own. In a crowd, each wake-up makes one run of each.
func TestPeriodBelowPrecision(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	runs := 0
	wheeltest.Every(t, w, 100*time.Microsecond, func() { runs++ })
	c.RunTo(time.Second)
	require.InDelta(t, 10000, runs, 1)
	require.Zero(t, w.Stats().Skipped)
	require.EqualValues(t, runs, w.Stats().Wakeups)

	w, c = wheeltest.OnLaggingClock(t, 0)
	runs = 0
	const n = 10
	for range n {
		wheeltest.Every(t, w, 100*time.Microsecond, func() { runs++ })
	}
	c.RunTo(time.Second)
	st := w.Stats()
	require.InDelta(t, n*1000, runs, n, "there must be one run per Precision")
	require.InDelta(t, n*10000, runs+int(st.Skipped), n*10)
	require.EqualValues(t, runs, n*st.Wakeups)
}

// A wake-up that is late by many periods skips runs, as a slow run does.
func TestLateWakeUpSkipsRuns(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	runs := 0
	wheeltest.Every(t, w, 10*time.Millisecond, func() { runs++ })
	c.RunTo(105 * time.Millisecond)
	require.Equal(t, 10, runs)
	c.Lag = 300 * time.Millisecond
	c.RunTo(410 * time.Millisecond) // due at 110, woken at 410
	require.Equal(t, 11, runs)
	require.EqualValues(t, 30, w.Stats().Skipped)
	c.Lag = wheeltest.Lag
	c.RunTo(425 * time.Millisecond)
	require.Equal(t, 12, runs)
}

func TestTickerCountsWhatItSkips(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	_, err := w.NewTicker(10 * time.Millisecond)
	require.NoError(t, err)
	c.Lag = 55 * time.Millisecond
	c.RunTo(70 * time.Millisecond)
	require.EqualValues(t, 5, w.Stats().Skipped)
}

// A Repeater never has more than one task in the executor, however often it is reset while
// that task waits.
func TestResetsOfARepeaterThatWaitsForAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{Executor: hierarchy.Pool(1)})
		_, err := w.AfterFunc(0, func() { time.Sleep(time.Minute) })
		require.NoError(t, err)
		start := time.Now()
		var begun []time.Duration
		r := wheeltest.Every(t, w, time.Second, func() { begun = append(begun, time.Since(start)) })
		wheeltest.Pass(1500 * time.Millisecond)
		for range 100 {
			require.True(t, r.Reset(10*time.Millisecond))
			wheeltest.Pass(15 * time.Millisecond)
			require.Equal(t, 1, w.Stats().Queued)
		}
		require.True(t, r.Reset(100*time.Second)) // at 3s
		wheeltest.Pass(110 * time.Second)
		require.Equal(t, []time.Duration{103 * time.Second}, begun)
		require.True(t, r.Stop())
		wheeltest.RequireBalance(t, w)
	})
}
