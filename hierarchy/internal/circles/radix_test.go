package circles

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A radix sort that is run in portions sorts by deadline, and keeps the order of equal ones.
func TestRadixSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 63, 64, 1000, 5000} {
		for width := range 65 {
			lo := int64(r.Uint64()) >> r.IntN(64)
			from := make([]entry, n)
			for i := range from {
				key := lo + int64(r.Uint64()>>uint(64-width))
				if width == 64 {
					key = max(lo, int64(r.Uint64()))
				}
				from[i] = entry{key: max(key, lo), order: uint32(i)} // the sum may overflow
			}
			want := slices.Clone(from)
			slices.SortStableFunc(want, func(x, y entry) int { return cmp.Compare(x.key, y.key) })
			var s radixSort
			s.begin(from, make([]entry, n), lo, width)
			for s.run(1+r.IntN(n+1)) == 0 {
				require.LessOrEqual(t, s.shift, 64+largestDigit)
			}
			require.Equal(t, want, s.from, "%d of %d bits above %d", n, width, lo)
		}
	}
}

// Two queues are merged by deadline and order.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	compare := func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(int32(x.order-y.order), 0))
	}
	for range 300 {
		base := r.Uint32() // the low bits of orders may overflow
		all := make([]entry, r.IntN(20))
		for i := range all {
			all[i] = entry{key: r.Int64N(6) - 3, order: base + uint32(i)}
		}
		var x, y []entry
		for _, e := range all {
			if r.IntN(2) == 0 {
				x = append(x, e)
			} else {
				y = append(y, e)
			}
		}
		slices.SortFunc(x, compare)
		slices.SortFunc(y, compare)
		slices.SortFunc(all, compare)
		merged := make([]entry, len(all))
		merge(merged, x, y)
		require.Equal(t, all, merged)
	}
}

// The hand may arrive at a slot that was poured ahead while a slot of that is being gathered.
func TestGatheringWhileTheHandArrives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	o := &ordered{t: t, r: r, live: map[uint32]moment{}, touched: map[uint64]bool{}}
	tuning := DefaultTuning()
	tuning.PourAheadFrom, tuning.GatherUpTo, tuning.SweepRatio = 2, 40, 0
	o.c.Init(NewLayout(time.Second).Signed(), tuning, 0)
	o.c.KeepOrder()
	o.c.GatherCrowds(func(uint32) {})
	const slot = int64(1) << 36 // one of circle 6, each 64 of circle 5
	for range 1000 {
		o.seq++
		m := moment{slot + slot/64 + r.Int64N(slot*63/64), o.seq}
		o.live[o.c.Add(0, m.deadline, m.order, 0)] = m
	}
	for o.c.active == 0 || !o.c.circle[6].Empty() {
		o.c.PourAhead(1, 100)
	}
	o.c.PourAhead(slot, 2)
	require.True(t, o.c.next.ahead)
	require.Positive(t, o.c.next.left)
	o.now = slot // where nothing is due
	o.next()
	require.NotNil(t, o.c.next)
	require.Zero(t, o.c.active)
	for o.now = 2 * slot; len(o.live) > 0; {
		o.next()
		require.NoError(t, o.c.Check())
	}
}
