package hierarchy

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// The place of a ChanTimer is freed only after its timer was taken out. Otherwise more
// timers than MaxPending could be pending for a short time.
func TestChanTimerGivesItsPlaceBackLast(t *testing.T) {
	w, err := New(Config{Clock: &handclock.Clock{}, Shards: 1, MaxPending: 1})
	require.NoError(t, err)
	timer, err := w.NewTimer(time.Hour)
	require.NoError(t, err)
	s := w.core.Shards[0]
	s.Mu.Lock() // the timer can't be taken out
	var stopper sync.WaitGroup
	stopper.Go(func() { timer.Stop() })
	for timer.mu.TryLock() { // until Stop has begun
		timer.mu.Unlock()
		runtime.Gosched()
	}
	free := false
	for range 1000 {
		runtime.Gosched()
		if w.core.Admit(0) == nil {
			free = true
			w.core.GiveBack()
		}
	}
	s.Mu.Unlock()
	stopper.Wait()
	require.False(t, free)
	require.NoError(t, w.core.Admit(0))
}

// A FuncTimer has its place as soon as it is set. Otherwise more timers than MaxPending could be pending for a short time.
func TestFuncTimerHasItsPlaceAtOnce(t *testing.T) {
	c := &handclock.Clock{}
	w, err := New(Config{Clock: c, Shards: 1, MaxPending: 1})
	require.NoError(t, err)
	timer, err := w.NewFunc(func() {})
	require.NoError(t, err)
	c.OnSet = func() { err = w.core.Admit(0) } // Reset has not returned
	timer.Reset(time.Hour)
	require.Equal(t, ErrFull, err)
}
