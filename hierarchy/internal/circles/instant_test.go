package circles

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If order is kept, moving timers of the instant that fires leaves their slot sorted. One
// instant then costs n log n at most, not n squared.
func TestMovesWithinOneInstantKeepItSorted(t *testing.T) {
	const n, deadline = 2000, int64(time.Second)
	for name, by := range map[string]int64{"the same": 0, "a later": 5, "much later": int64(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			c := newCircles(time.Second)
			c.KeepOrder()
			var nodes []uint32
			gone := map[uint32]bool{}
			for i := range uint64(n) {
				nodes = append(nodes, c.Add(0, deadline, i+1, 0))
			}
			fired, unsorted := 0, 0
			for v := c.Next(deadline, batch); v.State == Due; v = c.Next(deadline, batch) {
				neighbour := nodes[(fired+n/2)%n]
				c.Remove(v.Node, c.arena.At(v.Node))
				gone[v.Node] = true
				fired++
				if !gone[neighbour] {
					c.Move(neighbour, c.arena.At(neighbour), deadline, deadline+by, uint64(n+fired))
				}
				if c.occupied == 0 {
					break
				}
				if k, s, _ := c.first(); c.circle[k].Len(s) > c.tuning.SortUpTo && !c.circle[k].Sorted(s) {
					unsorted++
				}
				require.NoError(t, c.Check())
			}
			require.GreaterOrEqual(t, fired, n/2)
			require.LessOrEqual(t, unsorted, 2)
		})
	}
}

// A crowd of equal deadlines in random order is not sorted, because sorting a crowd would
// hold the lock for too long.
func TestCrowdOfOneInstantIsNotSorted(t *testing.T) {
	const n, at = 10_000, int64(time.Second)
	c := newCircles(time.Second)
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = c.Add(0, at, uint64(i+1), 0)
	}
	for i := range ids {
		id := ids[i*7919%n]
		c.Move(id, c.arena.At(id), 0, at, uint64(n+i+1))
	}
	again := 0
	for left := n; left > 0; {
		v := c.Next(at, batch)
		if v.State != Due {
			again++
			require.Less(t, again, n, "Next never stops asking to be called again")
			continue
		}
		require.Equal(t, at, v.At)
		node := c.arena.At(v.Node)
		if l := &c.circle[node.Circle()]; l.Len(node.Slot()) > c.tuning.SortUpTo {
			require.False(t, l.Sorted(node.Slot()), "sorted, with %d left", left)
		}
		c.Remove(v.Node, node)
		left--
	}
	require.LessOrEqual(t, c.cascaded, uint64(n*c.layout.count))
	require.LessOrEqual(t, again, int(c.cascaded)/batch+c.layout.count)
}
