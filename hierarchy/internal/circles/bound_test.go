package circles

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Next only knows when the slot of a crowd starts. Bound knows the first timer, if the crowd
// is not larger than the limit.
func TestBoundOfACrowd(t *testing.T) {
	const n, first = 100, 5 * int64(time.Minute)
	c := newCircles(time.Second)
	for i := range int64(n) {
		c.Add(0, first+(n-1-i)*int64(100*time.Millisecond), uint64(i+1), 0) // not in order
	}
	v := c.Next(1, batch)
	require.Equal(t, NotBefore, v.State)
	require.Zero(t, v.Node)
	require.Less(t, v.At, first)
	require.Equal(t, first, c.Bound(v.At, n))
	require.Equal(t, v.At, c.Bound(v.At, n-1))
	require.Equal(t, v, c.Next(1, batch), "Bound changes nothing")
}
