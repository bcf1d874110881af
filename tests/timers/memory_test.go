package timers

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
	"github.com/epicycle-go/epicycle/tests/long"
)

// heap returns the size of the live heap in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// spread returns a delay of one to two hours.
func spread() time.Duration { return time.Hour + rand.N(time.Hour) }

func TestMemoryPerTimerAndBack(t *testing.T) {
	long.Only(t)
	const n = 5_000_000
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
	first := wheeltest.Set(t, w, time.Hour, nop)
	timers := make([]hierarchy.Timer, n)
	before := heap()
	for i := range timers {
		var err error
		if timers[i], err = w.AfterFunc(spread(), nop); err != nil {
			require.NoError(t, err)
		}
	}
	peak := heap() - before
	require.LessOrEqual(t, peak, int64(44*n))
	t.Logf("%.1f bytes per timer", float64(peak)/n)
	stopped := 0
	for _, timer := range timers {
		if timer.Stop() {
			stopped++
		}
	}
	require.Equal(t, n, stopped)
	after := heap() - before
	require.Less(t, after, peak/50)
	t.Logf("%d kB left of %d", after/1000, peak/1000)

	again := wheeltest.Set(t, w, time.Hour, nop)
	for _, timer := range timers {
		if timer.Stop() || timer.Active() || timer.Reset(1) {
			require.Fail(t, "a handle from before the memory was released must not work")
		}
	}
	require.True(t, again.Stop() && first.Stop())
}

func TestKeyedMemoryGoesBack(t *testing.T) {
	long.Only(t)
	const n = 500_000
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.System()}, func(int, int) {})
	require.NoError(t, err)
	defer w.Stop()
	before := heap()
	for k := range n {
		require.NoError(t, w.Set(k, k, time.Hour))
	}
	peak := heap() - before
	t.Logf("%.1f bytes per key", float64(peak)/n)
	for k := range n {
		_, ok := w.Remove(k)
		require.True(t, ok)
	}
	after := heap() - before
	require.Less(t, after, peak/200)
	t.Logf("%d kB left of %d", after/1000, peak/1000)
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	m := clock.NewMock()
	cfg := hierarchy.Config{Clock: m}
	w := wheeltest.New(t, cfg)
	of, err := hierarchy.NewOf(cfg, func(int) {})
	require.NoError(t, err)
	defer of.Stop()
	keyed, err := hierarchy.NewKeyed(cfg, func(string, int) {})
	require.NoError(t, err)
	defer keyed.Stop()
	other := wheeltest.Set(t, w, time.Hour, nop)

	for name, f := range map[string]func(){
		"set and stop":     func() { timer, _ := w.AfterFunc(time.Minute, nop); timer.Stop() },
		"reset":            func() { other.Reset(time.Hour) },
		"reset to earlier": func() { other.Reset(time.Minute); other.Reset(time.Hour) },
		"set and fire":     func() { _, _ = w.AfterFunc(time.Millisecond, nop); m.Add(time.Millisecond) },
		"set and fire Of":  func() { _, _ = of.Set(1, time.Millisecond); m.Add(time.Millisecond) },
		"Keyed":            func() { _ = keyed.Set("a", 1, time.Hour); _, _ = keyed.Move("a", 1); keyed.Remove("a") },
		"set, fire Keyed":  func() { _ = keyed.Set("a", 1, time.Millisecond); m.Add(time.Millisecond) },
		"ask":              func() { other.Remaining(); w.Len(); keyed.Get("a") },
	} {
		f()
		require.Zero(t, testing.AllocsPerRun(1000, f), name)
	}
}

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
