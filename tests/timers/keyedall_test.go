package timers

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func newKeyed(t *testing.T, cfg hierarchy.Config) *hierarchy.Keyed[int, int] {
	w, err := hierarchy.NewKeyed(cfg, func(int, int) {})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

// A key that stays comes exactly once, though the body moves, removes and sets keys, and no
// key comes twice.
func TestAllWhileKeysComeAndGo(t *testing.T) {
	const n = 20_000
	w := newKeyed(t, hierarchy.Config{Clock: clock.NewMock(), Shards: 4})
	for k := range n {
		require.NoError(t, w.Set(k, k, time.Hour))
	}
	came := map[int]int{}
	for k, e := range w.All() {
		came[k]++
		require.Equal(t, k, e.Value)
		other := k * 7919 % n
		switch other % 4 {
		case 0:
			moved, err := w.Move(other, time.Duration(1+k)*time.Second)
			require.NoError(t, err)
			require.True(t, moved)
		case 1:
			if _, ok := w.Remove(other); ok { // the new timer may be in memory that comes later
				require.NoError(t, w.Set(other, other, time.Minute))
			}
		case 2:
			require.NoError(t, w.Set(other, other, 2*time.Hour)) // it keeps its place
		}
		require.NoError(t, w.Set(n+k, n+k, time.Hour))
	}
	for k := range n {
		if k%4 == 1 {
			require.LessOrEqual(t, came[k], 1)
		} else {
			require.Equal(t, 1, came[k], "key %d", k)
		}
	}
}

// All ends when the timers are drained meanwhile, and gives none of those that are set then.
func TestAllWhileTheWheelIsDrained(t *testing.T) {
	w := newKeyed(t, hierarchy.Config{Clock: clock.NewMock()})
	for k := range 5000 {
		require.NoError(t, w.Set(k, k, time.Hour))
	}
	came := 0
	for k := range w.All() {
		require.Less(t, k, 5000)
		if came++; came == 1 {
			require.Equal(t, 5000, w.Drain(nil))
			for k := range 5000 {
				require.NoError(t, w.Set(5000+k, k, time.Hour))
			}
		}
	}
	require.Less(t, came, 5000)
}

// The loop may be left, an empty wheel has nothing, and keys that name nothing come too.
func TestAllOfFew(t *testing.T) {
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.NewMock()}, func(float64, int) {})
	require.NoError(t, err)
	defer w.Stop()
	for range w.All() {
		t.Fatal("there is no key")
	}
	for v := range 3 {
		require.NoError(t, w.Set(math.NaN(), v, time.Hour))
	}
	came := 0
	for range w.All() {
		came++
	}
	require.Equal(t, 3, came)
	for range w.All() {
		break
	}
	require.Equal(t, 3, w.Len())
}

// All may run while others set, move and remove keys and timers fire.
func TestAllConcurrently(t *testing.T) {
	const stay = 1000
	w := newKeyed(t, hierarchy.Config{Shards: 4})
	for k := range stay {
		require.NoError(t, w.Set(-1-k, k, time.Hour))
	}
	stop := make(chan struct{})
	var others sync.WaitGroup
	for g := range 4 {
		others.Go(func() {
			for k := 0; ; k++ {
				select {
				case <-stop:
					return
				default:
				}
				_ = w.Set(k%5000, k, time.Duration(k%3)*time.Millisecond)
				_, _ = w.Move(-1-k%stay, time.Hour+time.Duration(k))
				w.Remove((k + g) % 5000)
			}
		})
	}
	for range 20 {
		came := map[int]int{}
		for k := range w.All() {
			came[k]++
		}
		for k := range stay {
			require.Equal(t, 1, came[-1-k])
		}
		for k, n := range came {
			require.Equal(t, 1, n, "key %d", k)
		}
	}
	close(stop)
	others.Wait()
}

// What DrainEntries tells can be set again with SetAt, on another wheel.
func TestEntriesMoveToAnotherWheel(t *testing.T) {
	m := clock.NewMock()
	w, next := newKeyed(t, hierarchy.Config{Clock: m}), newKeyed(t, hierarchy.Config{Clock: m})
	require.NoError(t, w.Set(1, 10, time.Hour))
	require.NoError(t, w.Set(2, 20, time.Minute))
	m.Add(time.Second)
	m.Jump(time.Hour) // the wall clock is set
	var order []int
	require.Equal(t, 2, w.DrainEntries(func(k int, e hierarchy.Entry[int]) {
		order = append(order, k)
		require.NoError(t, next.SetAt(k, e.Value, e.Due))
	}))
	require.Equal(t, []int{2, 1}, order)
	v, left, ok := next.Get(2)
	require.True(t, ok)
	require.Equal(t, 20, v)
	require.Equal(t, 59*time.Second, left)
	require.Equal(t, 2, next.DrainEntries(nil))
}

// What is set under a condition with a delay of zero fires within the call, if the condition
// holds.
func TestConditionsDueNow(t *testing.T) {
	fired := make(chan int, 10)
	w, err := hierarchy.NewKeyed(hierarchy.Config{}, func(_, v int) { fired <- v })
	require.NoError(t, err)
	defer w.Stop()
	for v, set := range []func(int, int, time.Duration) (bool, error){w.SetIfAbsent, w.SetSooner, w.SetLater} {
		ok, err := set(1, v, 0)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, v, <-fired)
	}
	require.NoError(t, w.Set(1, 5, time.Hour))
	for _, set := range []func(int, int, time.Duration) (bool, error){w.SetIfAbsent, w.SetLater} {
		ok, err := set(1, 6, -1)
		require.NoError(t, err)
		require.False(t, ok)
	}
	ok, err := w.SetSooner(1, 7, 0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 7, <-fired)
	require.Zero(t, w.Len())
}
