package time_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

// sleepers are goroutines that sleep.
type sleepers struct {
	sync.WaitGroup
	asleep atomic.Int64
}

// sleep has n goroutines sleep, and waits until all have their timers.
func sleep(n int, delay func(i int) time.Duration) *sleepers {
	time.ForgetCrowds()
	var s sleepers
	s.asleep.Store(int64(n))
	for i := range n {
		s.Go(func() {
			time.Sleep(delay(i))
			s.asleep.Add(-1)
		})
		if i < 32 { // whether these are a crowd is known when the others come
			awaitAsleep(i + 1)
		}
	}
	awaitAsleep(n)
	return &s
}

// awaitAsleep waits until n goroutines have their timers.
func awaitAsleep(n int) {
	for goroutines, timers := time.Sharing(); time.Wheel().Stats().Pending-timers+goroutines != n; goroutines, timers = time.Sharing() {
		runtime.Gosched()
	}
}

// await waits until no more than n goroutines sleep.
func (s *sleepers) await(n int) {
	for s.asleep.Load() > int64(n) {
		runtime.Gosched()
	}
}

func TestSleep(t *testing.T) {
	m := onMock(t)
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		time.Sleep(d)
	}
	require.Zero(t, time.Wheel().Stats().Scheduled)
	const n = 16 // no crowd
	s := sleep(n, func(i int) time.Duration { return time.Duration(i+1) * time.Second })
	for i := range n {
		m.Add(time.Second - 1)
		require.EqualValues(t, n-i, s.asleep.Load())
		m.Add(1)
		s.await(n - i - 1)
	}
	s.Wait()
}

// In a crowd, sleepers that are due within a window wake together, none of them early.
func TestSleepInACrowd(t *testing.T) {
	m := onMock(t)
	const n = 1000
	delay := func(i int) time.Duration { return time.Second + time.Duration(i)*17*time.Microsecond }
	later := func(than time.Duration) (sleepers int) {
		for i := range n {
			if delay(i) > than {
				sleepers++
			}
		}
		return sleepers
	}
	s := sleep(n, delay)
	require.Less(t, time.Wheel().Stats().Pending, 50, "they share timers")
	for s.asleep.Load() > 0 {
		m.Add(time.Window / 4)
		s.await(later(m.Elapsed() - time.Window)) // all others must wake
		require.GreaterOrEqual(t, s.asleep.Load(), int64(later(m.Elapsed())), "early")
	}
	s.Wait()
}

// Windows that have the same place do not mix.
func TestSleepInACrowdOfManyWindows(t *testing.T) {
	m := onMock(t)
	const n, turn = 200, 256 * time.Window
	s := sleep(n, func(i int) time.Duration { return time.Second + time.Duration(i)*turn })
	m.Add(time.Second + 100*turn)
	s.await(100)
	require.GreaterOrEqual(t, s.asleep.Load(), int64(99))
	m.Add(100 * turn)
	s.Wait()
	require.Zero(t, time.Wheel().Stats().Pending)
}

// The longest sleep has a timer of its own, also in a crowd.
func TestLongestSleepInACrowd(t *testing.T) {
	m := onMock(t)
	s := sleep(100, func(i int) time.Duration { return 1<<63 - 1 - time.Duration(i) })
	m.Add(1<<63 - 1)
	s.Wait()
}

// Sixteen within a window are no crowd. More are, and for some time those who follow.
func TestWhatACrowdIs(t *testing.T) {
	m := onMock(t)
	sharing := func(n int) int {
		for i := range n {
			go time.Sleep(time.Hour + time.Duration(i))
			require.NoError(t, m.WaitFor(t.Context(), 1))
			for goroutines, timers := time.Sharing(); ; goroutines, timers = time.Sharing() {
				if time.Wheel().Stats().Pending-timers+goroutines == i+1 {
					break
				}
				runtime.Gosched()
			}
		}
		goroutines, _ := time.Sharing()
		m.Add(2 * time.Hour)
		return goroutines
	}
	time.ForgetCrowds()
	require.Equal(t, 0, sharing(16))
	require.Equal(t, 4, sharing(20))
	time.ForgetCrowds()
	m.Add(time.Window)
	require.Equal(t, 1, sharing(17))
}

// However often a goroutine sleeps within a window, it is no crowd.
func TestLoopIsNoCrowd(t *testing.T) {
	m := onMock(t)
	time.ForgetCrowds()
	const n = 100
	var loop sync.WaitGroup
	loop.Go(func() {
		for range n {
			time.Sleep(time.Microsecond)
		}
	})
	for range n {
		require.NoError(t, m.WaitFor(t.Context(), 1))
		goroutines, _ := time.Sharing()
		require.Zero(t, goroutines)
		m.Add(time.Microsecond)
	}
	loop.Wait()
}

// Sleep never returns early on the real clock.
func TestSleepIsNeverEarly(t *testing.T) {
	for _, d := range []time.Duration{1, time.Microsecond, time.Millisecond, 1700 * time.Microsecond} {
		start := time.Now()
		time.Sleep(d)
		require.GreaterOrEqual(t, time.Since(start), d)
	}
}
