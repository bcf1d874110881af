package engine

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
)

// A caller who sees that Drain has emptied a full wheel can set a timer. The wheel has
// many shards for Drain to unlock, which gives the other goroutine time to look.
func TestDrainLeavesRoomAtOnce(t *testing.T) {
	cfg := inGoroutines(&handclock.Clock{}, 1024)
	cfg.MaxPending = 1
	w := New(cfg, func(int) {})
	s := w.Shards[0]
	empty := func() bool {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		return s.Timers == nil
	}
	for range 200 {
		after(w, time.Hour, 0)
		var refused error
		var setter sync.WaitGroup
		setter.Go(func() {
			for !empty() {
				runtime.Gosched()
			}
			_, refused = w.Add(0, w.Now(), time.Hour, 0)
		})
		w.Drain(func(int, int64) {})
		setter.Wait()
		require.NoError(t, refused)
		w.Drain(func(int, int64) {})
	}
}
