package hierarchy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/stretchr/testify/require"
)

// TestHistogramAgainstSorted compares a histogram with a sorted list. A quantile is never
// below the exact one, and at most an eighth above it.
func TestHistogramAgainstSorted(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var parts [2]engine.Durations // one for each of two shards
		var all []int64
		sum := 0.0
		for range 1 + r.IntN(1000) {
			d := r.Int64N(1 << uint(1+r.IntN(50)))
			parts[r.IntN(2)].Add(d)
			all = append(all, d)
			sum += float64(d)
		}
		slices.Sort(all)
		var h Histogram
		h.h.Merge(&parts[0])
		h.h.Merge(&parts[1])
		require.Equal(t, uint64(len(all)), h.Count())
		require.Equal(t, all[len(all)-1], int64(h.Max()))
		require.InEpsilon(t, 1+sum/float64(len(all)), float64(1+h.Mean()), 1e-6)
		for _, q := range []float64{-1, 0, 0.01, 0.5, 0.9, 0.99, 0.999, 1, 2} {
			rank := max(1, int(math.Ceil(min(max(q, 0), 1)*float64(len(all)))))
			exact := all[rank-1]
			got := int64(h.Quantile(q))
			require.GreaterOrEqual(t, got, exact, "q = %g", q)
			require.LessOrEqual(t, got, exact+exact/8, "q = %g", q)
		}
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h Histogram
	h.h.Merge(&engine.Durations{})
	require.Zero(t, h.Count())
	require.Equal(t, []time.Duration{0, 0, 0}, []time.Duration{h.Max(), h.Mean(), h.Quantile(0.5)})
}
