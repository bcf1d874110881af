package keys

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
)

func TestIndexAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	values := timers.New[Entry[int, int]](circles.NewLayout(1), circles.DefaultTuning(), 0)
	var x index[int, int]
	want := map[int]uint32{}
	most := uint32(0)
	for round := range 8 {
		for range 3000 {
			k := r.IntN(4000)
			hash := uint32(k*k) % 1021 // many collide
			i, ok := want[k]
			require.Equal(t, i, x.find(values, hash, k))
			switch {
			case !ok && round%4 < 2:
				i := values.Add(0, 0, 1, 0)
				values.MakeRoom(i)
				*values.Value(i) = Entry[int, int]{Key: k, hash: hash}
				x.insert(values, i)
				want[k] = i
			case ok && round%4 >= 2:
				x.remove(values, i)
				values.Remove(i, values.Arena().At(i))
				delete(want, k)
			}
		}
		require.EqualValues(t, len(want), x.keys)
		require.NoError(t, x.checkChains(values))
		most = max(most, x.buckets)
	}
	require.Greater(t, most, 8*uint32(segmentLen)/2)
	for k, i := range want {
		x.remove(values, i)
		values.Remove(i, values.Arena().At(i))
		require.Zero(t, x.find(values, uint32(k*k)%1021, k))
	}
	require.NoError(t, x.checkChains(values))
	require.LessOrEqual(t, x.buckets, uint32(segmentLen), "buckets must be removed as keys are")
}
