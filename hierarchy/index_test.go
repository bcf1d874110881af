package hierarchy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
	"github.com/epicycle-go/epicycle/level/arena"
)

// checkIndex reports the first broken invariant of a Keyed's indexes.
func (w *Keyed[K, V]) checkIndex() error {
	for n, s := range w.core.Shards {
		s.Mu.Lock()
		err := w.index[n].check(s.Timers)
		s.Mu.Unlock()
		if err != nil {
			return fmt.Errorf("index %d: %w", n, err)
		}
	}
	return nil
}

func (x *index[K, V]) check(t *timers.Timers[entry[K, V]]) error {
	if t == nil {
		return nil
	}
	want := uint32(0)
	t.Arena().Each(func(i uint32, _ *arena.Node) {
		if e := t.Value(i); e.key == e.key {
			want++
		}
	})
	if want != x.keys {
		return fmt.Errorf("%d keys are pending, but the index counts %d", want, x.keys)
	}
	return x.checkChains(t)
}

func (x *index[K, V]) checkChains(values *timers.Timers[entry[K, V]]) error {
	found := uint32(0)
	for b := range x.buckets {
		for i := *x.head(b); i != 0; i = values.Value(i).next {
			found++
			e := values.Value(i)
			if x.bucketFor(e.hash) != b {
				return fmt.Errorf("key %v is in bucket %d, but belongs in %d", e.key, b, x.bucketFor(e.hash))
			}
			if x.find(values, e.hash, e.key) != i {
				return fmt.Errorf("key %v is not found", e.key)
			}
		}
	}
	if found != x.keys {
		return fmt.Errorf("the chains have %d keys, but the index counts %d", found, x.keys)
	}
	return nil
}

func TestIndexAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	values := timers.New[entry[int, int]](circles.NewLayout(1), circles.DefaultTuning(), 0)
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
				*values.Value(i) = entry[int, int]{key: k, hash: hash}
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
