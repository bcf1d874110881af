package callbacks

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// The executor of the wheel is not asked, whatever it does.
func TestAfterInlineIgnoresTheExecutor(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: func(func()) { t.Error("the executor got a task") }})
	var at []time.Duration
	note := func(due time.Time) {
		require.Equal(t, m.Now(), due)
		at = append(at, m.Elapsed())
	}
	for _, d := range []time.Duration{time.Hour, 0, -1, 1} {
		_, err := w.AfterInline(d, note)
		require.NoError(t, err)
		require.Empty(t, at)
	}
	m.Add(time.Hour)
	require.Equal(t, []time.Duration{0, 0, 1, time.Hour}, at)
	wheeltest.RequireBalance(t, w)
}

// Off a mock, what is due is called within the call.
func TestAfterInlineDueNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		called := false
		timer, err := w.AfterInline(0, func(time.Time) { called = true })
		require.NoError(t, err)
		require.True(t, called)
		require.False(t, timer.Active())
		require.EqualValues(t, 1, w.Stats().Fired)
		wheeltest.RequireBalance(t, w)

		w.Stop()
		_, err = w.AfterInline(0, func(time.Time) { t.Error("called by a wheel that is stopped") })
		require.ErrorIs(t, err, hierarchy.ErrClosed)
	})
}

// OnPanic gets the panic of a callback, also within the call.
func TestAfterInlinePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []any
		w := wheeltest.OnSystem(t, hierarchy.Config{OnPanic: func(r any, _ []byte) { got = append(got, r) }})
		for _, d := range []time.Duration{0, time.Second} {
			_, err := w.AfterInline(d, func(time.Time) { panic(d) })
			require.NoError(t, err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []any{time.Duration(0), time.Second}, got)
	})
}

// A Timer of AfterInline stops and resets as any other does.
func TestAfterInlineTimer(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	fired := 0
	timer, err := w.AfterInline(time.Second, func(time.Time) { fired++ })
	require.NoError(t, err)
	require.True(t, timer.Reset(time.Minute))
	m.Add(time.Minute - 1)
	require.Zero(t, fired)
	m.Add(1)
	require.Equal(t, 1, fired)
	require.False(t, timer.Stop())

	timer, err = w.AfterInline(time.Second, func(time.Time) { t.Error("fired after Stop") })
	require.NoError(t, err)
	require.True(t, timer.Stop())
	m.Add(time.Hour)
}

// dueOf returns a channel on which a timer of AfterInline sends when it was due.
func dueOf(t *testing.T, w *hierarchy.Wheel, d time.Duration) (hierarchy.Timer, <-chan time.Time) {
	c := make(chan time.Time, 1)
	timer, err := w.AfterInline(d, func(due time.Time) { c <- due })
	require.NoError(t, err)
	return timer, c
}

// A function of AfterInline gets the time when its own timer was due, however late the wheel wakes, whatever fires
// beside it, and whether it was reset or its time had passed.
func TestAfterInlineGetsTheTimeWhenDue(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	c.RunTo(time.Second)
	now := c.Now()
	const d = 3 * time.Millisecond
	_, plain := dueOf(t, w, d)
	sooner, reset := dueOf(t, w, time.Hour)
	require.True(t, sooner.Reset(d+1))
	_, passed := dueOf(t, w, -1)
	require.Equal(t, now, <-passed)
	c.RunTo(time.Second + 2*d)
	require.Equal(t, now.Add(d), <-plain)
	require.Equal(t, now.Add(d+1), <-reset)
	again, reset := dueOf(t, w, time.Hour)
	for _, d := range []time.Duration{time.Minute, 0} {
		require.True(t, again.Reset(d))
	}
	require.Empty(t, reset, "f may take a lock that the caller of Reset holds")
	now = c.Now()
	c.RunTo(c.Elapsed() + d)
	require.Equal(t, now, <-reset)
}

// The same while other timers fire, on a clock of the system. A timer that is reset to now is called by the wheel, as
// any timer of AfterInline is.
func TestAfterInlineBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{Executor: hierarchy.Go})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 100 {
					other, _ := dueOf(t, w, 2*time.Microsecond)
					defer other.Stop()
					timer, due := dueOf(t, w, time.Hour)
					before := time.Now()
					require.True(t, timer.Reset(0))
					require.Equal(t, before.Round(0), (<-due).Round(0))
					_, due = dueOf(t, w, 0)
					require.Equal(t, time.Now().Round(0), (<-due).Round(0))
					time.Sleep(time.Microsecond)
				}
			})
		}
		all.Wait()
	})
}

// On a mock, too, where what is due now fires in the next Add.
func TestAfterInlineOnMock(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: hierarchy.Go})
	timer, due := dueOf(t, w, time.Hour)
	m.Add(time.Minute)
	require.True(t, timer.Reset(-1))
	require.Empty(t, due)
	at := m.Now()
	m.Add(time.Minute)
	require.Equal(t, at, <-due)
}
