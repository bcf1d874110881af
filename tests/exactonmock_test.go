package tests

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// mockOf returns a wheel on a mock and the list of the timers that have fired.
func mockOf(t *testing.T, cfg hierarchy.Config) (m *clock.Mock, w *of, fired *[]int) {
	m, fired = clock.NewMock(), new([]int)
	cfg.Clock = m
	return m, newOf(t, cfg, func(id int) { *fired = append(*fired, id) }), fired
}

func TestMockFiresExactlyAtTheDeadlineWhateverPrecision(t *testing.T) {
	for _, precision := range []time.Duration{1, time.Millisecond, time.Hour} {
		m := clock.NewMock()
		w := newWheel(t, hierarchy.Config{Clock: m, Precision: precision})
		deadlines := []time.Duration{1, 2, 63, 64, 65, 999_999, 1_000_000, 1_000_001, time.Minute, time.Minute + 1, 3 * years}
		var fired, wall []time.Duration
		epoch := m.Now()
		for _, d := range deadlines {
			mustSet(t, w, d, func() {
				fired = append(fired, m.Elapsed())
				wall = append(wall, m.Now().Sub(epoch))
			})
		}
		for i, d := range deadlines {
			m.Add(d - m.Elapsed() - 1)
			require.Len(t, fired, i, "fired before %v", d)
			m.Add(1)
			require.Len(t, fired, i+1, "did not fire at %v", d)
		}
		require.Equal(t, deadlines, fired, "Elapsed in the callback")
		require.Equal(t, deadlines, wall, "Now in the callback")
	}
}

// One long Add shows callbacks the same times as many short ones.
func TestMockTellsEachDeadlineInOneLongAdd(t *testing.T) {
	m, sum := clock.NewMock(), 0
	r := rand.New(rand.NewPCG(3, 3))
	w := newOf(t, hierarchy.Config{Clock: m, Precision: time.Hour, Interval: 3 * time.Hour}, func(deadline time.Duration) {
		require.Equal(t, deadline, m.Elapsed())
		sum++
	})
	for range 5000 {
		d := time.Duration(r.Int64N(int64(1) << (1 + r.IntN(60))))
		_, err := w.Set(d, d)
		require.NoError(t, err)
	}
	m.Add(forever)
	require.Equal(t, 5000, sum)
}

func TestMockFiresOnlyWhenItIsMoved(t *testing.T) {
	m, w, fired := mockOf(t, hierarchy.Config{})
	for i := range 4 {
		_, err := w.Set(i, -time.Duration(i))
		require.NoError(t, err)
	}
	m.Jump(time.Hour)
	_, _ = m.Next()
	_, _, _ = w.Stats(), w.Circles(), w.Len()
	require.Empty(t, *fired)
	m.Add(0)
	require.Equal(t, []int{0, 1, 2, 3}, *fired)
	_, err := w.Set(4, 0)
	require.NoError(t, err)
	m.Set(m.Now())
	require.Len(t, *fired, 5)
	_, err = w.Set(5, 0)
	require.NoError(t, err)
	d, ok := m.AddNext()
	require.True(t, ok)
	require.Zero(t, d)
	require.Len(t, *fired, 6)
	_, err = w.Set(6, -1)
	require.NoError(t, err)
	m.Set(m.Now().Add(-time.Hour))
	require.Len(t, *fired, 7)
	require.Zero(t, m.Elapsed())
}

// byDeadline returns the indices of deadlines, sorted by deadline and then by index.
func byDeadline(deadlines []time.Duration) []int {
	ids := make([]int, len(deadlines))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(x, y int) int { return cmp.Compare(deadlines[x], deadlines[y]) })
	return ids
}

func TestMockOrderIsByDeadlineThenBySetting(t *testing.T) {
	for _, width := range []int64{1, 2, 50, 1 << 20, 1 << 40} {
		for _, n := range []int{5, 100, 3000} {
			m, w, fired := mockOf(t, hierarchy.Config{Shards: 8})
			r := rand.New(rand.NewPCG(uint64(width), uint64(n)))
			var deadlines []time.Duration
			for i := range n {
				d := time.Duration(r.Int64N(width))
				deadlines = append(deadlines, m.Elapsed()+d)
				_, err := w.Set(i, d)
				require.NoError(t, err)
			}
			m.Add(forever)
			require.Equal(t, byDeadline(deadlines), *fired, "%d timers within %d ns", n, width)
		}
	}
}

// The order holds across wheels that share a mock and across all ways to set a timer.
func TestMockOrderHoldsAcrossWheels(t *testing.T) {
	m := clock.NewMock()
	var trace []string
	note := func(s string) func() { return func() { trace = append(trace, s) } }
	a := newWheel(t, hierarchy.Config{Clock: m})
	b := newWheel(t, hierarchy.Config{Clock: m, Interval: time.Hour, Precision: time.Minute})
	k := newKeyed(t, hierarchy.Config{Clock: m}, func(key string, _ int) { note(key)() })
	var want []string
	for i := range 40 {
		name := fmt.Sprint(i)
		want = append(want, name)
		switch i % 4 {
		case 0:
			mustSet(t, a, time.Second, note(name))
		case 1:
			require.NoError(t, k.Set(name, i, time.Second))
		case 2:
			_, err := b.At(m.Now().Add(time.Second), note(name))
			require.NoError(t, err)
		case 3:
			require.True(t, mustSet(t, b, 5, note(name)).Reset(time.Second))
		}
	}
	m.Add(time.Second)
	require.Equal(t, want, trace)
}

// Reset, Move and Set of an existing key put a timer after all timers set before.
func TestMockOrderCountsWhatIsSetAnewAnew(t *testing.T) {
	m := clock.NewMock()
	var trace []string
	w := newWheel(t, hierarchy.Config{Clock: m})
	note := func(s string) func() { return func() { trace = append(trace, s) } }
	k := newKeyed(t, hierarchy.Config{Clock: m}, func(key string, v int) { trace = append(trace, fmt.Sprint(key, v)) })
	reset := mustSet(t, w, time.Second, note("reset"))
	require.NoError(t, k.Set("moved", 0, time.Second))
	require.NoError(t, k.Set("set", 0, time.Second))
	require.NoError(t, k.Set("swapped", 0, time.Second))
	mustSet(t, w, time.Second, note("first"))
	_, _, err := k.Swap("swapped", 1, time.Second)
	require.NoError(t, err)
	require.NoError(t, k.Set("set", 2, time.Second))
	require.True(t, reset.Reset(time.Second))
	ok, err := k.Move("moved", time.Second)
	require.NoError(t, err)
	require.True(t, ok)
	mustSet(t, w, time.Second, note("last"))
	m.Add(time.Second)
	require.Equal(t, []string{"first", "swapped1", "set2", "reset", "moved0", "last"}, trace)
}

// A wheel on a mock has one shard. The timers that each goroutine sets for one instant
// fire in the order in which it set them, although several processors set timers.
func TestMockKeepsTheOrderOfManyProcessors(t *testing.T) {
	m := clock.NewMock()
	fired := make(map[int][]int)
	w := newOf(t, hierarchy.Config{Clock: m, Shards: 16}, func(v int) { fired[v/10_000] = append(fired[v/10_000], v) })
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 2000 {
				_, _ = w.Set(g*10_000+i, time.Second)
			}
		})
	}
	all.Wait()
	m.Add(time.Second)
	for g := range 8 {
		require.Len(t, fired[g], 2000)
		require.True(t, slices.IsSorted(fired[g]), "the order of goroutine %d", g)
	}
}
