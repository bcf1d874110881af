package hierarchy_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// The executor of the wheel is not asked, whatever it does.
func TestAfterInlineIgnoresTheExecutor(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{Executor: func(func()) { t.Error("the executor got a task") }})
	var at []time.Duration
	note := func() { at = append(at, m.Elapsed()) }
	for _, d := range []time.Duration{time.Hour, 0, -1, 1} {
		_, err := w.AfterInline(d, note)
		require.NoError(t, err)
		require.Empty(t, at)
	}
	m.Add(time.Hour)
	require.Equal(t, []time.Duration{0, 0, 1, time.Hour}, at)
	requireBalance(t, w)
}

// Off a mock, what is due is called within the call.
func TestAfterInlineDueNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSystem(t, hierarchy.Config{})
		called := false
		timer, err := w.AfterInline(0, func() { called = true })
		require.NoError(t, err)
		require.True(t, called)
		require.False(t, timer.Active())
		require.EqualValues(t, 1, w.Stats().Fired)
		requireBalance(t, w)

		w.Stop()
		_, err = w.AfterInline(0, func() { t.Error("called by a wheel that is stopped") })
		require.ErrorIs(t, err, hierarchy.ErrClosed)
	})
}

// OnPanic gets the panic of a callback, also within the call.
func TestAfterInlinePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []any
		w := onSystem(t, hierarchy.Config{OnPanic: func(r any, _ []byte) { got = append(got, r) }})
		for _, d := range []time.Duration{0, time.Second} {
			_, err := w.AfterInline(d, func() { panic(d) })
			require.NoError(t, err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []any{time.Duration(0), time.Second}, got)
	})
}

// A Timer of AfterInline stops and resets as any other does.
func TestAfterInlineTimer(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{})
	fired := 0
	timer, err := w.AfterInline(time.Second, func() { fired++ })
	require.NoError(t, err)
	require.True(t, timer.Reset(time.Minute))
	m.Add(time.Minute - 1)
	require.Zero(t, fired)
	m.Add(1)
	require.Equal(t, 1, fired)
	require.False(t, timer.Stop())

	timer, err = w.AfterInline(time.Second, func() { t.Error("fired after Stop") })
	require.NoError(t, err)
	require.True(t, timer.Stop())
	m.Add(time.Hour)
}
