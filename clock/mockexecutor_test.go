package clock_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// Add waits at each deadline for all callbacks of that deadline on every wheel, including
// those of timers that these callbacks set.
func TestMockWaitsAtEachDeadline(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			m := clock.NewMock()
			v, w := newWheel(t, m, e), newWheel(t, m, e)
			var fired, running atomic.Int32
			callback := func(at time.Duration) func() {
				return func() {
					running.Add(1)
					defer running.Add(-1)
					for range 10 {
						require.Equal(t, at, m.Elapsed())
					}
					fired.Add(1)
				}
			}
			for at := time.Second; at <= 20*time.Second; at += time.Second {
				for range 20 {
					after(t, v, at, func() {
						callback(at)()
						after(t, w, 0, callback(at))
						after(t, v, time.Millisecond, callback(at+time.Millisecond))
					})
				}
			}
			for at := time.Second; at <= 20*time.Second; at += time.Second {
				m.Add(time.Second)
				require.Zero(t, running.Load())
			}
			m.Add(time.Millisecond)
			require.EqualValues(t, 20*20*3, fired.Load())
		})
	}
}

// A chain of timers, each set by the callback of the one before, fires in one Add.
func TestMockChainInOneAdd(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			m, links := clock.NewMock(), 0
			w := newWheel(t, m, e)
			var link func()
			link = func() {
				links++
				require.Equal(t, time.Duration(links), m.Elapsed())
				after(t, w, 1, link)
			}
			after(t, w, 1, link)
			m.Add(1000)
			require.Equal(t, 1000, links)
		})
	}
}

func TestMockNextInsideCallbacks(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			m := clock.NewMock()
			v, w := newWheel(t, m, e), newWheel(t, m, e)
			after(t, w, 2*time.Hour, func() {})
			for range 50 {
				after(t, v, time.Hour, func() {
					timer := after(t, v, 10*time.Minute, func() { t.Error("was stopped") })
					d, ok := m.Next()
					require.True(t, ok)
					require.LessOrEqual(t, d, 10*time.Minute)
					require.True(t, timer.Stop())
				})
			}
			m.Add(time.Hour)
			d, ok := m.Next()
			require.True(t, ok)
			require.Equal(t, time.Hour, d)
		})
	}
}

func TestMockRepeaterKeepsTime(t *testing.T) {
	for name, e := range executors() {
		t.Run(name, func(t *testing.T) {
			m, runs := clock.NewMock(), 0
			r, err := newWheel(t, m, e).Every(time.Minute, func() {
				runs++
				require.Equal(t, time.Duration(runs)*time.Minute, m.Elapsed())
			})
			require.NoError(t, err)
			m.Add(time.Hour)
			require.Equal(t, 60, runs)
			require.True(t, r.Stop())
			m.Add(time.Hour)
			require.Equal(t, 60, runs)
		})
	}
}
