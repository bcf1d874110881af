package executor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A Pool is told apart from other functions, and from other Pools.
func TestPoolOf(t *testing.T) {
	a, b := NewPool(1), NewPool(1)
	require.NotNil(t, PoolOf(a))
	require.Same(t, PoolOf(a), PoolOf(a))
	require.NotSame(t, PoolOf(a), PoolOf(b))
	require.Nil(t, PoolOf(func(task func()) { a(task) }))
	require.Nil(t, PoolOf(func(func()) { t.Error("called") }))
	require.PanicsWithError(t, "hierarchy: a Pool was given a nil task", func() { a(nil) })
}

// A queue gives back what it was given, in order, and keeps no block that is empty.
func TestWorkQueue(t *testing.T) {
	var q workQueue
	var pushed, dropped int
	all := make([]*single, 1000)
	for i := range all {
		all[i] = &single{}
	}
	for _, n := range []int{1, -1, 63, -63, 64, -1, -63, 200, -150, 300, -350} {
		for ; n > 0; n-- {
			q.push(all[pushed])
			pushed++
		}
		for ; n < 0; n++ {
			require.False(t, q.empty())
			require.Same(t, all[dropped], q.first())
			require.Equal(t, pushed-dropped > 1, q.more())
			q.drop()
			dropped++
		}
		require.Equal(t, pushed == dropped, q.empty())
		require.Equal(t, q.empty(), q.back == nil)
	}
}
