package hierarchy

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The place of a ChanTimer is freed only after its timer was taken out. Otherwise more
// timers than MaxPending could be pending for a short time.
func TestChanTimerGivesItsPlaceBackLast(t *testing.T) {
	w, err := New(Config{Clock: &handClock{}, Shards: 1, MaxPending: 1})
	require.NoError(t, err)
	timer, err := w.NewTimer(time.Hour)
	require.NoError(t, err)
	s := w.core.shards[0]
	s.mu.Lock() // the timer can't be taken out
	var stopper sync.WaitGroup
	stopper.Go(func() { timer.Stop() })
	for timer.mu.TryLock() { // until Stop has begun
		timer.mu.Unlock()
		runtime.Gosched()
	}
	free := false
	for range 1000 {
		runtime.Gosched()
		free = free || w.core.quota.used.Load() == 0
	}
	s.mu.Unlock()
	stopper.Wait()
	require.False(t, free)
	require.Zero(t, w.core.quota.used.Load())
}

// A caller who sees that Drain has emptied a full wheel can set a timer. The wheel has
// many shards for Drain to unlock, which gives the other goroutine time to look.
func TestDrainLeavesRoomAtOnce(t *testing.T) {
	w, err := NewOf(Config{Clock: &handClock{}, Shards: maxShards, MaxPending: 1}, func(int) {})
	require.NoError(t, err)
	s := w.core.shards[0]
	empty := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.timers == nil
	}
	for range 200 {
		_, err := w.Set(0, time.Hour)
		require.NoError(t, err)
		var refused error
		var setter sync.WaitGroup
		setter.Go(func() {
			for !empty() {
				runtime.Gosched()
			}
			_, refused = w.Set(0, time.Hour)
		})
		w.Drain(nil)
		setter.Wait()
		require.NoError(t, refused)
		w.Drain(nil)
	}
}
