package clock_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// deep calls f at the bottom of a stack of n frames.
//
//go:noinline
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
}

// executors returns the executors that a mock waits for, by name.
func executors() map[string]hierarchy.Executor {
	return map[string]hierarchy.Executor{
		"Inline": hierarchy.Inline, "Go": hierarchy.Go,
		"Pool1": hierarchy.Pool(1), "Pool4": hierarchy.Pool(4),
	}
}

func TestMockMovedInsideCallbackPanics(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			m, called := clock.NewMock(), false
			after(t, newWheel(t, m, e), time.Second, func() {
				called = true
				require.Panics(t, func() { m.Add(0) })
				require.Panics(t, func() { m.Set(m.Now()) })
				require.Panics(t, func() { m.AddNext() })
				require.Panics(t, func() { m.WaitForAllTimers() })
				deep(1000, func() { require.Panics(t, func() { m.Add(time.Second) }) })
				m.Jump(time.Hour)
			})
			m.Add(time.Second)
			require.True(t, called)
			require.Equal(t, time.Second, m.Elapsed())
			m.Add(time.Second)
			require.Equal(t, 2*time.Second, m.Elapsed())
		})
	}
}

// Many mocks are moved inside each other's callbacks. Each still panics if it is moved
// inside a callback of its own.
func TestMockMovesOtherMocksInCallbacks(t *testing.T) {
	for name, e := range executors() {
		if name == "Pool1" || name == "Pool4" {
			continue // the outer callbacks would use up the workers
		}
		t.Run(name, func(t *testing.T) {
			mocks, reached := make([]*clock.Mock, 70), false
			for i := range mocks {
				mocks[i] = clock.NewMock()
			}
			for i, m := range mocks {
				after(t, newWheel(t, m, e), time.Second, func() {
					require.Panics(t, func() { m.Add(0) })
					if reached = i == len(mocks)-1; !reached {
						mocks[i+1].Add(time.Second)
					}
					require.Panics(t, func() { m.Add(0) })
				})
			}
			mocks[0].Add(time.Second)
			require.True(t, reached)
		})
	}
}

// A callback of one mock moves another mock while another goroutine is inside a callback
// of that other mock.
func TestMockWaitsForOtherMockInCallback(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			mock, other := clock.NewMock(), clock.NewMock()
			held, release := make(chan struct{}), make(chan struct{})
			after(t, newWheel(t, other, nil), time.Second, func() { close(held); <-release })
			after(t, newWheel(t, mock, e), time.Second, func() {
				go close(release)
				other.Add(time.Second)
			})
			var wg sync.WaitGroup
			wg.Go(func() { other.Add(time.Second) })
			<-held
			mock.Add(time.Second)
			wg.Wait()
			require.Equal(t, 2*time.Second, other.Elapsed())
		})
	}
}

func TestMockSurvivesPanic(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	v, w := newWheel(t, m, nil), newWheel(t, m, nil)
	after(t, v, time.Second, func() { panic("callback") })
	after(t, v, time.Second, tr.note("same wheel"))
	after(t, w, time.Second, tr.note("other wheel"))
	after(t, v, time.Minute, tr.note("later"))
	require.PanicsWithValue(t, "callback", func() { m.Add(time.Hour) })
	require.Equal(t, time.Second, m.Elapsed())
	require.Empty(t, tr.take())
	d, ok := m.Next()
	require.True(t, ok)
	require.Zero(t, d)
	m.Add(0)
	require.Equal(t, []string{"same wheel", "other wheel"}, tr.take())
	m.Add(time.Hour)
	require.Equal(t, []string{"later"}, tr.take())
}

func TestMockSurvivesRecoveredPanic(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			m, panics, fired := clock.NewMock(), 0, 0
			w, err := hierarchy.New(hierarchy.Config{
				Clock: m, Executor: e,
				OnPanic: func(any, []byte) { panics++ },
			})
			require.NoError(t, err)
			defer w.Stop()
			after(t, w, time.Second, func() { panic("callback") })
			after(t, w, time.Minute, func() { fired++ })
			m.Add(time.Hour)
			require.Equal(t, 1, panics)
			require.Equal(t, 1, fired)
		})
	}
}

func TestMockSurvivesGoexit(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			m, fired := clock.NewMock(), 0
			w := newWheel(t, m, e)
			after(t, w, time.Second, runtime.Goexit)
			after(t, w, time.Minute, func() { fired++ })
			gone := make(chan struct{})
			go func() { // with Inline, this goroutine exits
				defer close(gone)
				m.Add(time.Second)
			}()
			<-gone
			require.Equal(t, time.Second, m.Elapsed())
			m.Add(time.Hour)
			require.Equal(t, 1, fired)
		})
	}
}
