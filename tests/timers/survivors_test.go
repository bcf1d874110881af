package timers

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
	"github.com/epicycle-go/epicycle/tests/long"
)

// Of a burst, the few timers that stay keep little memory, wherever among the others they were set.
func TestSurvivorsOfABurstKeepLittleMemory(t *testing.T) {
	long.Only(t)
	const n, one = 1_000_000, 1000
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Shards: 1})
	timers := make([]hierarchy.Timer, n)
	before := heap()
	for i := range timers {
		timers[i] = wheeltest.Set(t, w, spread(), nop)
	}
	peak := heap() - before
	for i, timer := range timers {
		if i%one != one/2 {
			timer.Stop()
		}
	}
	after := heap() - before
	t.Logf("%d kB left of %d", after/1000, peak/1000)
	require.Less(t, after, peak/4)
	runtime.KeepAlive(timers)
}

// A Keyed with few keys takes little memory, however many shards it has.
func TestFewKeysTakeLittleMemory(t *testing.T) {
	const keys, wheels = 8, 100
	var all [wheels]*hierarchy.Keyed[string, int]
	before := heap()
	for i := range all {
		w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.System(), Shards: 16}, func(string, int) {})
		require.NoError(t, err)
		t.Cleanup(w.Stop)
		all[i] = w
	}
	empty := (heap() - before) / wheels
	for _, w := range all {
		for k := range keys {
			require.NoError(t, w.Set(fmt.Sprint(k), k, time.Hour))
		}
	}
	full := (heap() - before) / wheels
	t.Logf("%d B without keys, %d B with %d keys", empty, full, keys)
	require.Less(t, full, int64(24_000))
	runtime.KeepAlive(&all)
}
