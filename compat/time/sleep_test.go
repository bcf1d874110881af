package time_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

func TestSleep(t *testing.T) {
	m := onMock(t)
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		time.Sleep(d)
	}
	require.Zero(t, time.Wheel().Stats().Scheduled)
	const n = 50 // less than a crowd
	awake := make(chan time.Duration, n)
	for i := range n {
		go func() {
			time.Sleep(time.Duration(i+1) * time.Second)
			awake <- time.Duration(i+1) * time.Second
		}()
	}
	require.NoError(t, m.WaitFor(t.Context(), n))
	for i := range n {
		m.Add(time.Second - 1)
		require.Empty(t, awake)
		m.Add(1)
		require.Equal(t, time.Duration(i+1)*time.Second, <-awake)
	}
}

// asleep waits until n goroutines sleep and have their timers.
func asleep(n int) {
	for {
		goroutines, timers := time.Sharing()
		if time.Wheel().Stats().Pending-timers+goroutines == n && time.Sleepers() == n {
			return
		}
		runtime.Gosched()
	}
}

// In a crowd, sleepers that are due within some microseconds wake together, none of them
// early.
func TestSleepInACrowd(t *testing.T) {
	m := onMock(t)
	const n, slack = 1000, 1 << 16
	delay := func(i int) time.Duration { return time.Second + time.Duration(i)*17*time.Microsecond }
	later := func(than time.Duration) (sleepers int) {
		for i := range n {
			if delay(i) > than {
				sleepers++
			}
		}
		return sleepers
	}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { time.Sleep(delay(i)) })
	}
	asleep(n)
	require.Less(t, time.Wheel().Stats().Pending, n/2, "they share timers")
	for time.Sleepers() > 0 {
		m.Add(slack / 4)
		for time.Sleepers() > later(m.Elapsed()-slack) { // all these must wake
			runtime.Gosched()
		}
		require.GreaterOrEqual(t, time.Sleepers(), later(m.Elapsed()), "early")
	}
	all.Wait()
}

// Windows that have the same place do not mix.
func TestSleepInACrowdOfManyWindows(t *testing.T) {
	m := onMock(t)
	const n, turn = 200, 256 << 16
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { time.Sleep(time.Second + time.Duration(i)*turn) })
	}
	asleep(n)
	m.Add(time.Second + 100*turn)
	for time.Sleepers() > 100 {
		runtime.Gosched()
	}
	require.GreaterOrEqual(t, time.Sleepers(), 99)
	m.Add(100 * turn)
	all.Wait()
	require.Zero(t, time.Wheel().Stats().Pending)
}

// The longest sleep has a timer of its own, also in a crowd.
func TestLongestSleepInACrowd(t *testing.T) {
	m := onMock(t)
	const n = 100
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { time.Sleep(time.Duration(1<<63-1) - time.Duration(i)) })
	}
	asleep(n)
	m.Add(1<<63 - 1)
	all.Wait()
}

// Sleep never returns early on the real clock.
func TestSleepIsNeverEarly(t *testing.T) {
	for _, d := range []time.Duration{1, time.Microsecond, time.Millisecond, 1700 * time.Microsecond} {
		start := time.Now()
		time.Sleep(d)
		require.GreaterOrEqual(t, time.Since(start), d)
	}
}
