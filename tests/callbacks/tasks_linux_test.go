package callbacks

import (
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// A callback may return with its goroutine locked to a thread that is fit for nothing else. The
// thread ends, and no other callback runs on it.
func TestThreadThatACallbackLeftLocked(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{})
	var mu sync.Mutex
	spoilt := map[int]bool{}
	reused := 0
	var all sync.WaitGroup
	all.Add(crowd)
	for i := range crowd {
		wheeltest.Set(t, w, 10*time.Millisecond, func() {
			defer all.Done()
			runtime.LockOSThread()
			thread := syscall.Gettid()
			mu.Lock()
			defer mu.Unlock()
			if spoilt[thread] {
				reused++
			}
			if i%7 == 3 {
				spoilt[thread] = true
				return
			}
			runtime.UnlockOSThread()
		})
	}
	all.Wait()
	require.Len(t, spoilt, (crowd+3)/7)
	require.Zero(t, reused)
}
