package timers

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

func newIdle(t testing.TB, w *hierarchy.Wheel, d time.Duration, f func()) *hierarchy.Idle {
	t.Helper()
	i, err := w.NewIdle(d, f)
	require.NoError(t, err)
	return i
}

func TestNewIdleThatFails(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
	_, err := w.NewIdle(time.Second, nil)
	require.ErrorIs(t, err, hierarchy.ErrNilFunc)
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		_, err = w.NewIdle(d, nop)
		require.ErrorIs(t, err, hierarchy.ErrArgument)
	}
	timer := wheeltest.Set(t, w, time.Hour, nop)
	_, err = w.NewIdle(time.Second, nop)
	require.ErrorIs(t, err, hierarchy.ErrFull)
	timer.Stop()
	require.EqualValues(t, 1, w.Stats().Scheduled)
	w.Stop()
	_, err = w.NewIdle(time.Second, nop)
	require.ErrorIs(t, err, hierarchy.ErrClosed)
}

// An Idle fires exactly d after it was last touched, once.
func TestIdleFiresAfterItsLastTouch(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor, MaxPending: 1})
				start := time.Now()
				var at wheeltest.Moments
				var idle *hierarchy.Idle
				idle = newIdle(t, w, time.Second, func() { at.Note(); require.False(t, idle.Touch()) })
				for range 1000 {
					time.Sleep(7 * time.Millisecond)
					require.True(t, idle.Touch())
				}
				require.Equal(t, 1, w.Len())
				wheeltest.Pass(time.Hour)
				require.Equal(t, []time.Duration{8 * time.Second}, at.Since(start))
				require.False(t, idle.Touch())
				require.False(t, idle.Stop())
				require.Zero(t, w.Len())
				st := w.Stats()
				require.EqualValues(t, 1, st.Fired)
				require.EqualValues(t, 1, st.Scheduled)
				require.Zero(t, st.Lateness.Max())
				require.EqualValues(t, 8, st.Moved, "not once for each touch")
				require.EqualValues(t, 9, st.Wakeups)
				wheeltest.Set(t, w, time.Hour, nop) // its place was given back
			})
		})
	}
}

func TestIdleThatIsNeverTouched(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	fired := 0
	newIdle(t, w, time.Second, func() { fired++ })
	m.Add(time.Second - 1)
	require.Zero(t, fired)
	m.Add(1)
	require.Equal(t, 1, fired)
	m.Add(time.Hour)
	require.Equal(t, 1, fired)
	require.Zero(t, w.Stats().Moved)
}

func TestIdleStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{MaxPending: 1})
		idle := newIdle(t, w, time.Second, func() { panic("fired") })
		require.True(t, idle.Touch())
		require.True(t, idle.Stop())
		require.False(t, idle.Stop())
		require.False(t, idle.Touch())
		require.Zero(t, w.Len())
		require.EqualValues(t, 1, w.Stats().Stopped)
		idle = newIdle(t, w, time.Second, func() { panic("fired") })
		w.Stop()
		require.False(t, idle.Touch())
		require.False(t, idle.Stop())
		require.EqualValues(t, 1, w.Stats().Dropped)
		wheeltest.RequireBalance(t, w)
	})
}

// On a mock, Next sees the touched deadline, and a touch is a new setting: of two timers of
// one deadline, the one touched later fires later.
func TestIdleOnAMock(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	var order []string
	idle := newIdle(t, w, time.Minute, func() { order = append(order, "idle at "+m.Elapsed().String()) })
	m.Add(59 * time.Second)
	require.True(t, idle.Touch())
	next, ok := m.Next()
	require.True(t, ok)
	require.Equal(t, time.Minute, next)
	wheeltest.Set(t, w, time.Minute, func() { order = append(order, "timer") })
	require.True(t, idle.Touch())
	m.AddNext()
	require.Equal(t, []string{"timer", "idle at 1m59s"}, order)
	require.False(t, idle.Touch())
	require.EqualValues(t, 2, w.Stats().Moved)
	require.EqualValues(t, 1, w.Stats().Wakeups)
}

// A touch just before the deadline counts, also if the wheel is late, and a touch at the end
// of time does not overflow.
func TestIdleOfALateWheel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, wheeltest.Rough(hierarchy.Inline))
		start := time.Now()
		var soon, later wheeltest.Moments
		wheeltest.Set(t, w, time.Second, nop) // afterwards the wheel sleeps for a Precision
		first, second := newIdle(t, w, 2*time.Second, soon.Note), newIdle(t, w, 2*time.Second, later.Note)
		wheeltest.Pass(10 * time.Second)
		require.True(t, first.Touch(), "it has not fired yet")
		wheeltest.Pass(50 * time.Second)
		require.True(t, second.Touch())
		wheeltest.Pass(time.Hour)
		require.Equal(t, []time.Duration{time.Second + time.Minute}, soon.Since(start))
		require.Equal(t, []time.Duration{time.Second + 2*time.Minute}, later.Since(start))
		require.Equal(t, 59*time.Second, w.Stats().Lateness.Max(), "from the touched deadline")
		endless := newIdle(t, w, math.MaxInt64, nop)
		require.True(t, endless.Touch())
		wheeltest.Pass(time.Hour)
		require.True(t, endless.Stop())
	})
}

// A crowd of Idles of one deadline, half of which were touched.
func TestCrowdOfIdles(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 3000
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor, Shards: 2})
				start := time.Now()
				var early, late, wrong atomic.Int32
				idles := make([]*hierarchy.Idle, n)
				for i := range idles {
					touched := i%2 == 0
					idles[i] = newIdle(t, w, time.Second, func() {
						switch passed := time.Since(start); {
						case !touched && passed == time.Second:
							early.Add(1)
						case touched && passed == time.Second+time.Duration(1+i)*time.Microsecond:
							late.Add(1)
						default:
							wrong.Add(1)
						}
					})
				}
				for i, idle := range idles {
					time.Sleep(time.Microsecond)
					if i%2 == 0 {
						require.True(t, idle.Touch())
					}
				}
				wheeltest.Pass(time.Minute)
				require.Zero(t, wrong.Load())
				require.EqualValues(t, n/2, early.Load())
				require.EqualValues(t, n/2, late.Load())
				require.EqualValues(t, n/2, w.Stats().Moved)
				wheeltest.RequireBalance(t, w)
			})
		})
	}
}

// interrupted is a mock whose reading can be followed by something else, before its caller goes on.
type interrupted struct {
	*clock.Mock
	then func()
}

func (c *interrupted) Elapsed() time.Duration {
	now := c.Mock.Elapsed()
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	return now
}

// A touch that has read the clock, and is overtaken by a later one, does not take the timer back to its own deadline.
func TestOvertakenTouchOnAMock(t *testing.T) {
	m := &interrupted{Mock: clock.NewMock()}
	w := wheeltest.New(t, hierarchy.Config{Clock: m})
	i, err := w.NewIdle(time.Minute, nop)
	require.NoError(t, err)
	m.then = func() {
		m.Add(time.Second)
		require.True(t, i.Touch())
	}
	require.True(t, i.Touch())
	next, ok := m.Next()
	require.True(t, ok)
	require.Equal(t, time.Minute, next)
}
