package level

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/level/arena"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A circle knows which of its slots hold something.
func TestCircleKnowsItsSlots(t *testing.T) {
	var c Circle
	slots := map[int]*Slot{Slots - 1: {Least: 1}, 40: {Least: 2}, 3: {Least: 3}}
	for _, s := range []int{Slots - 1, 40, 3} {
		require.False(t, c.Has(s))
		c.Put(s, slots[s])
		require.True(t, c.Has(s))
		require.Equal(t, s, c.First())
	}
	c.Crowds = 1<<3 | 1<<40
	require.Same(t, slots[3], c.Vacate(3))
	require.Equal(t, 40, c.First())
	require.Equal(t, uint64(1<<40), c.Crowds)
	require.Same(t, slots[40], c.Vacate(40))
	require.Same(t, slots[Slots-1], c.Vacate(Slots-1))
	require.Equal(t, Circle{}, c)
}

// Each time belongs to the one slot that begins no later and ends no earlier.
func TestWidth(t *testing.T) {
	for w := Width(0); w <= 62; w++ {
		for _, at := range []int64{0, 1, 63, 64, 1<<w - 1, 1 << w, 1<<62 - 1, rand.Int64(), math.MaxInt64} {
			s := w.Slot(at)
			start := w.Start(s, at)
			require.LessOrEqual(t, start, at)
			require.GreaterOrEqual(t, w.End(start), at)
			require.EqualValues(t, w.Duration()-1, w.End(start)-start)
			if s > 0 {
				require.Equal(t, start-1, w.End(w.Start(s-1, at)), "slots follow each other without a gap")
			}
		}
	}
}

// A slot holds what is in its chain, its run or its sub-circle. Its span is that of the chain.
func TestSlot(t *testing.T) {
	var m arena.Memory
	var s Slot
	require.False(t, s.Holds())
	for _, key := range []int64{5, 3, 9} {
		s.Span(key)
		m.Add(&s.Chain, arena.Entry{Node: uint32(key)})
	}
	require.Equal(t, []int64{3, 9}, []int64{s.Least, s.Most})
	require.Equal(t, 3, s.Size())
	m.Clear(&s.Chain)
	require.False(t, s.Holds())
	s.Run = &Run{Items: make([]Item, 5), At: 2}
	require.True(t, s.Holds())
	require.Equal(t, 3, s.Size())
	s.Span(7)
	require.Equal(t, []int64{7, 7}, []int64{s.Least, s.Most}, "what was in the chain before is gone")
	require.True(t, (&Slot{Sub: new(Circle)}).Holds())
}

// Runs are in order however they are filled and sorted, and lose nothing.
func TestRunsAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var sorter Sorter
	for range 3000 {
		w := Width(r.IntN(40))
		start := w.Start(r.IntN(Slots), r.Int64N(1<<40))
		order := uint64(0)
		random := func(n int) (items []Item) {
			for range n {
				order++
				key := start + r.Int64N(int64(w.Duration()))
				if r.IntN(3) == 0 {
					key = start
				}
				items = append(items, Item{Key: key, Order: order})
			}
			return items
		}
		few := 1 + r.IntN(200)
		run := &Run{Items: random(r.IntN(few))}
		sorter.Sort(run, 0, w)
		run.At = r.IntN(len(run.Items) + 1)
		want := slices.Clone(run.Items[run.At:])
		sorted := len(run.Items)
		run.Items = append(run.Items, random(r.IntN(few))...)
		want = append(want, run.Items[run.At+len(want):]...)
		sorter.Sort(run, sorted, w)
		run.Shrink()
		require.LessOrEqual(t, run.At, len(run.Items)/2)
		slices.SortFunc(want, Compare)
		require.Equal(t, len(want), run.Len())
		require.True(t, slices.Equal(want, run.Items[run.At:]))
	}
}

// After a crowd was sorted, the space for it is not kept.
func TestSorterKeepsLittle(t *testing.T) {
	var s Sorter
	for n, most := range map[int]int{200: 1024, 5000: 0} {
		r := &Run{Items: make([]Item, n)}
		for i := range r.Items {
			r.Items[i].Key = int64(n - i)
		}
		s.Sort(r, 0, 13)
		require.True(t, slices.IsSortedFunc(r.Items, Compare))
		require.LessOrEqual(t, cap(s.scratch), most)
	}
}
