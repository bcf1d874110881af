package wheeltest

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// RequireCollected requires that n cleanups, each of which adds one to collected, run.
func RequireCollected(t *testing.T, collected *atomic.Int32, n int, name string) {
	t.Helper()
	for range 1000 { // cleanups run some time after a collection
		runtime.GC()
		if int(collected.Load()) == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	require.EqualValues(t, n, collected.Load(), "%s are collected", name)
}
