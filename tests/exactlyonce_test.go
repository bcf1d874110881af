package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// turn is a clock with a function that moves it by d and wakes the wheel. The promises
// for due timers hold on any clock with Inline.
type turn struct {
	clock  clock.Clock
	goOnBy func(d time.Duration)
}

func turns() map[string]turn {
	m, c := clock.NewMock(), &handClock{}
	return map[string]turn{
		"mock": {m, m.Add},
		"hand": {c, func(d time.Duration) {
			c.moveTo(c.Elapsed() + d)
			c.ringNow()
		}},
	}
}

func onEachTurn(t *testing.T, test func(t *testing.T, x turn, cfg hierarchy.Config)) {
	for name, x := range turns() {
		t.Run(name, func(t *testing.T) {
			test(t, x, hierarchy.Config{Clock: x.clock, Executor: hierarchy.Inline, Shards: 1})
		})
	}
}

// A due timer is pending until its own callback is called. The callback of another timer
// with the same deadline can still stop or reset it.
func TestDueTimerIsPendingUntilItFires(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		w := newWheel(t, cfg)
		var stopped, later, last hierarchy.Timer
		var trace []string
		mustSet(t, w, time.Second, func() {
			trace = append(trace, "first")
			require.Equal(t, 3, w.Len(), "the others are due and still count as pending")
			require.Equal(t, 3, w.Stats().Pending)
			require.True(t, stopped.Active())
			left, ok := stopped.Remaining()
			require.True(t, ok)
			require.Zero(t, left)
			require.True(t, stopped.Stop())
			require.False(t, stopped.Stop())
			require.True(t, later.Reset(time.Minute))
			require.Equal(t, 2, w.Len())
		})
		stopped = mustSet(t, w, time.Second, func() { trace = append(trace, "stopped") })
		later = mustSet(t, w, time.Second, func() { trace = append(trace, "later") })
		last = mustSet(t, w, time.Second, func() {
			trace = append(trace, "last")
			require.False(t, last.Active(), "it has fired")
			require.False(t, last.Stop())
			require.False(t, last.Reset(0))
			require.Equal(t, 1, w.Len())
		})
		x.goOnBy(time.Second)
		require.Equal(t, []string{"first", "last"}, trace)
		x.goOnBy(time.Minute)
		require.Equal(t, []string{"first", "last", "later"}, trace)
		st := w.Stats()
		require.Equal(t, []uint64{4, 3, 1, 1}, []uint64{st.Scheduled, st.Fired, st.Stopped, st.Moved})
	})
}

func TestDueKeyIsPendingUntilItFires(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		var trace []int
		var w *keyed
		w = newKeyed(t, cfg, func(k string, v int) {
			trace = append(trace, v)
			_, _, pending := w.Get(k)
			require.False(t, pending, "the key is still pending in its own callback")
			if k != "first" {
				return
			}
			require.Equal(t, 3, w.Len())
			v, ok := w.Remove("removed")
			require.True(t, ok)
			require.Equal(t, 2, v)
			ok, err := w.Move("moved", time.Minute)
			require.NoError(t, err)
			require.True(t, ok)
			require.NoError(t, w.Set("set", 40, 2*time.Minute))
			require.Equal(t, 2, w.Len())
		})
		for i, k := range []string{"first", "removed", "moved", "set"} {
			require.NoError(t, w.Set(k, i+1, time.Second))
		}
		x.goOnBy(time.Second)
		require.Equal(t, []int{1}, trace)
		x.goOnBy(time.Minute)
		require.Equal(t, []int{1, 3}, trace)
		x.goOnBy(time.Minute)
		require.Equal(t, []int{1, 3, 40}, trace)
	})
}

// Drain takes out timers that are due, and Stop drops them. Neither affects a timer that
// has fired.
func TestDueTimersAreDrainedAndDropped(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		var fired, drained []int
		var w *of
		w = newOf(t, cfg, func(v int) {
			fired = append(fired, v)
			switch v {
			case 1:
				require.Equal(t, 2, w.Drain(func(v int) { drained = append(drained, v) }))
				require.Zero(t, w.Len())
			case 11:
				w.Stop()
				require.Zero(t, w.Len())
			}
		})
		set := func(v int) {
			_, err := w.Set(v, time.Second)
			require.NoError(t, err)
		}
		set(1)
		set(2)
		set(3)
		x.goOnBy(time.Second)
		set(11)
		set(12)
		x.goOnBy(time.Second)
		x.goOnBy(time.Second)
		require.Equal(t, []int{1, 11}, fired)
		require.Equal(t, []int{2, 3}, drained)
		st := w.Stats()
		require.Equal(t, []uint64{5, 2, 2, 1}, []uint64{st.Scheduled, st.Fired, st.Drained, st.Dropped})
	})
}

// A timer is no longer pending once it was dispatched, even if the executor has not
// called the task yet.
func TestDispatchedTimerIsNotPending(t *testing.T) {
	c := &handClock{}
	var tasks []func()
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: func(task func()) { tasks = append(tasks, task) }})
	fired := 0
	timer := mustSet(t, w, 1, func() { fired++ })
	c.runTo(1)
	require.Len(t, tasks, 1)
	require.False(t, timer.Stop())
	require.False(t, timer.Reset(0))
	require.Zero(t, w.Len())
	w.Stop()
	require.Zero(t, fired)
	require.Equal(t, 1, w.Stats().Queued)
	tasks[0]()
	require.Equal(t, 1, fired, "Stop cancelled a callback that was dispatched")
	require.NoError(t, w.Shutdown(context.Background()))
	require.Panics(t, tasks[0], "a second call of a task must panic")
	require.Equal(t, 1, fired)
}

// If Reset returns true, the timer fires at the new deadline and not at the old one.
func TestResetThatReturnsTrueMovesTheTimer(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		w := newWheel(t, cfg)
		var fired []time.Duration
		timer := mustSet(t, w, time.Second, func() { fired = append(fired, x.clock.Elapsed()) })
		for _, d := range []time.Duration{time.Minute, time.Millisecond, time.Hour, 3 * time.Second} {
			require.True(t, timer.Reset(d))
		}
		x.goOnBy(2 * time.Second)
		require.Empty(t, fired)
		x.goOnBy(time.Second)
		x.goOnBy(2 * time.Hour)
		require.Equal(t, []time.Duration{3 * time.Second}, fired)
		require.False(t, timer.Reset(time.Second))
		x.goOnBy(time.Hour)
		require.Len(t, fired, 1)
	})
}

// The handle of a timer that has ended never affects the timer that took its place.
func TestOldHandleTouchesNoOther(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		w := newWheel(t, cfg)
		var zero hierarchy.Timer
		old := []hierarchy.Timer{zero}
		for i := range 200 {
			timer := mustSet(t, w, time.Second, func() {})
			if i%2 == 0 {
				require.True(t, timer.Stop())
			} else {
				x.goOnBy(time.Second)
			}
			old = append(old, timer)
		}
		fired := 0
		mustSet(t, w, time.Second, func() { fired++ })
		for _, timer := range old {
			require.False(t, timer.Stop() || timer.Reset(time.Hour) || timer.Active())
		}
		x.goOnBy(time.Second)
		require.Equal(t, 1, fired)
	})
}
