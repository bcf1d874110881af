package time_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

// A function runs once for each time that its timer was set and not found pending later.
func TestAfterFuncExactlyOnceUnderRace(t *testing.T) {
	var runs atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			mine := make(chan bool, 1)
			timer := time.AfterFunc(0, func() { runs.Add(1); mine <- true })
			<-mine
			for range 2000 {
				d := time.Duration(rand.Int64N(int64(20 * time.Microsecond)))
				require.False(t, timer.Reset(d))
				if !timer.Stop() {
					<-mine
				}
			}
		})
	}
	all.Wait()
	require.Positive(t, runs.Load())
}

// Any number of goroutines may use one timer and one ticker.
func TestSharedTimersUnderRace(t *testing.T) {
	timer, ticker := time.NewTimer(time.Hour), time.NewTicker(time.Microsecond)
	f := time.AfterFunc(time.Hour, func() {})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 2000 {
				d := time.Duration(i%100) * time.Microsecond
				timer.Reset(d)
				f.Reset(d)
				ticker.Reset(d + 1)
				select {
				case <-timer.C:
				case <-ticker.C:
				default:
				}
				if i%7 == 0 {
					timer.Stop()
					f.Stop()
					ticker.Stop()
				}
			}
		})
	}
	all.Wait()
	timer.Stop()
	f.Stop()
	ticker.Stop()
	time.Sleep(5 * time.Millisecond)
	for _, c := range []<-chan time.Time{timer.C, ticker.C} {
		require.False(t, received(c), "a value after Stop")
	}
}
