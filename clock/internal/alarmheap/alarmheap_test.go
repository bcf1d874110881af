package alarmheap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type alarm struct{ at, index int }

// A heap gives the same first alarm as a sorted slice, whatever is put, moved and dropped.
func TestHeapAgainstASlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var h Heap[*alarm] = New(
		func(a, b *alarm) bool { return a.at < b.at },
		func(a *alarm) *int { return &a.index },
	)
	all, in := make([]*alarm, 50), map[*alarm]bool{}
	for i := range all {
		all[i] = new(alarm)
	}
	for range 5000 {
		a := all[r.IntN(len(all))]
		if r.IntN(3) == 0 {
			h.Drop(a)
			delete(in, a)
			require.Zero(t, a.index)
		} else {
			a.at = r.IntN(1000)
			h.Put(a)
			in[a] = true
		}
		require.Equal(t, len(in), h.Len())
		least := 1000
		for a := range in {
			require.Same(t, a, h.All()[a.index-1])
			least = min(least, a.at)
		}
		if len(in) > 0 {
			require.Equal(t, least, h.First().at)
		}
	}
}

// The second alarm is one of the two that follow the first.
func TestSecondFollowsTheFirst(t *testing.T) {
	h := New(func(a, b *alarm) bool { return a.at < b.at }, func(a *alarm) *int { return &a.index })
	for _, at := range rand.Perm(100) {
		h.Put(&alarm{at: at})
	}
	require.True(t, slices.ContainsFunc(h.All()[1:3], func(a *alarm) bool { return a.at == 1 }))
}
