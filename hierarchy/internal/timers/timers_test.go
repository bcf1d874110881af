package timers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/level/arena"
)

func newTimers[T any]() *Timers[T] {
	return New[T](circles.NewLayout(1<<30), circles.DefaultTuning(), 0)
}

func set[T any](all *Timers[T], v T, deadline int64, sequence uint64, f arena.Flags) uint32 {
	i := all.Add(0, deadline, sequence, f)
	if all.Grown() {
		all.MakeRoom(i)
	}
	*all.Value(i) = v
	return i
}

type large [4 << 10]byte

// chunks returns the number of chunks of values.
func chunks(t *testing.T, all *Timers[large]) (n int) {
	for _, c := range all.values.chunks {
		require.LessOrEqual(t, len(c)*len(large{}), largestChunk)
		if c != nil {
			n++
		}
	}
	return n
}

// Large values are in small chunks, so that no call has to clear megabytes. Chunks are
// released as timers end.
func TestLargeValues(t *testing.T) {
	const n, perChunk = 20 << arena.ChunkBits, largestChunk / len(large{})
	all := newTimers[large]()
	for i := range n {
		before := len(all.values.chunks)
		v := large{0: byte(i), len(large{}) - 1: byte(i >> 8)}
		set(all, v, int64(1+i), uint64(1+i), 0)
		require.LessOrEqual(t, len(all.values.chunks), before+1)
	}
	require.InDelta(t, n/perChunk, chunks(t, all), 2)
	require.Equal(t, n, all.Len())
	deserted := 0
	for i := range n {
		v := all.Next(n, 100)
		require.Equal(t, circles.Due, v.State)
		value := all.Value(v.Node)
		require.Equal(t, i&0xffff, int(value[0])|int(value[len(value)-1])<<8)
		all.Clear(v.Node)
		if all.Release(all.Remove(v.Node, all.Arena().At(v.Node))) {
			deserted++
		}
	}
	require.Equal(t, 1, deserted, "Discard must return true once, when one timer is left")
	require.LessOrEqual(t, chunks(t, all), 10*(1<<arena.ChunkBits)/perChunk+1,
		"values for more chunks of the arena than the spare ones, and the one of the node freed last")
	require.Zero(t, (*Timers[large])(nil).Len())
}

// Clear makes the garbage collector able to free what the value refers to.
func TestClear(t *testing.T) {
	all := newTimers[*int]()
	i := set(all, new(int), 5, 1, 0)
	require.NotNil(t, *all.Value(i))
	all.Clear(i)
	require.Nil(t, *all.Value(i))
	require.Equal(t, arena.Nothing, all.Remove(i, all.Arena().At(i)))
	require.False(t, all.Release(arena.Nothing))
}

func TestFlagged(t *testing.T) {
	all := newTimers[int]()
	for i := range 10 {
		set(all, i, 5, uint64(1+i), arena.Flags(i%3))
	}
	require.ElementsMatch(t, []int{1, 4, 7}, all.Flagged(1))
	require.ElementsMatch(t, []int{2, 5, 8}, all.Flagged(2))
}
