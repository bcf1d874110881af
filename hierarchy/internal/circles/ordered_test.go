package circles

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
)

// checkOrdered checks that o consists of the items of want, which are in order.
func checkOrdered(t *testing.T, o *ordered, want []level.Item) {
	t.Helper()
	x := &census{c: newCircles(1), named: map[uint32]int{}}
	x.c.Add(0, 0, 1, 0) // a node for the entries
	require.NoError(t, x.ordered(o))
	require.Equal(t, len(want), o.n)
	var all []level.Item
	for rest := *o; rest.n > 0; {
		front := slices.Clone(rest.front(7))
		for _, y := range front {
			require.Equal(t, y, *rest.first())
			all = append(all, y)
			rest.at, rest.n = rest.at+1, rest.n-1
			if rest.at == len(rest.blocks[0]) {
				rest.at, rest.blocks = 0, rest.blocks[1:]
			}
		}
	}
	require.Equal(t, want, all)
	require.LessOrEqual(t, len(o.blocks), 2+len(want)*4/blockItems, "blocks with few items each")
}

// A set of items is what a sorted list is, whatever is added and removed, and its blocks are not nearly empty.
func TestOrderedAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var o ordered
	var want []level.Item
	for step := range 40_000 {
		grow := step/8000%2 == 0
		switch n := r.IntN(10); {
		case n < 6 && grow || len(want) == 0:
			x := level.Item{Key: r.Int64N(50), Order: uint64(step + 1)}
			if n == 0 && len(want) > 0 { // behind all others
				x.Key = want[len(want)-1].Key
			}
			at, _ := slices.BinarySearchFunc(want, x, level.Compare)
			want = slices.Insert(want, at, x)
			o.insert(x)
		case n < 8:
			at := r.IntN(len(want))
			require.True(t, o.remove(want[at].Key, want[at].Order))
			require.False(t, o.remove(want[at].Key, want[at].Order))
			want = slices.Delete(want, at, at+1)
		default:
			require.Equal(t, want[0], *o.first())
			o.removeFirst()
			want = want[1:]
		}
		if step%100 == 0 {
			checkOrdered(t, &o, want)
		}
	}
}

// Few items take few blocks, in whichever order the others were removed.
func TestOrderedKeepsFewOfMany(t *testing.T) {
	const n, every = 100 * blockItems, blockItems
	for name, order := range map[string]func(i int) int{
		"forwards":  func(i int) int { return i },
		"backwards": func(i int) int { return n - 1 - i },
	} {
		t.Run(name, func(t *testing.T) {
			var o ordered
			for i := range n {
				o.push(level.Item{Key: 1, Order: uint64(i + 1)})
			}
			var want []level.Item
			for i := range n {
				x := level.Item{Key: 1, Order: uint64(order(i) + 1)}
				if order(i)%every == every/2 {
					want = append(want, x)
				} else {
					require.True(t, o.remove(x.Key, x.Order))
				}
			}
			slices.SortFunc(want, level.Compare)
			checkOrdered(t, &o, want)
		})
	}
}

// push reports what it puts out of order, and sort mends it.
func TestOrderedSort(t *testing.T) {
	var o ordered
	var want []level.Item
	for i := range 3 * blockItems {
		x := level.Item{Key: 1, Order: uint64(i * 7919 % (3 * blockItems))}
		inOrder := o.n == 0 || want[len(want)-1].Order < x.Order
		require.Equal(t, inOrder, o.push(x))
		want = append(want, x)
	}
	o.sort()
	slices.SortFunc(want, level.Compare)
	checkOrdered(t, &o, want)
	o.removeFirst()
	o.push(level.Item{Key: 0})
	o.sort()
	checkOrdered(t, &o, append([]level.Item{{Key: 0}}, want[1:]...))
}
