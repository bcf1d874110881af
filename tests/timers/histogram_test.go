package timers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestHistogramsOfOnesOwn(t *testing.T) {
	var a, b, all hierarchy.Histogram
	for i := range 1000 {
		d := time.Duration(i) * time.Millisecond
		all.Add(d)
		if i%3 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	var snapshot hierarchy.Histogram
	snapshot.Merge(a)
	require.Equal(t, a.String(), snapshot.String())
	snapshot.Merge(b)
	snapshot.Merge(hierarchy.Histogram{})
	require.Equal(t, all, snapshot)
	require.Equal(t, uint64(334), a.Count(), "what was merged elsewhere is unchanged")
	snapshot.Merge(snapshot)
	require.Equal(t, uint64(2000), snapshot.Count())
	require.Equal(t, all.Mean(), snapshot.Mean())
	require.Equal(t, all.Quantile(0.9), snapshot.Quantile(0.9))
}

func TestHistogramOfExtremes(t *testing.T) {
	var h hierarchy.Histogram
	h.Add(-time.Second)
	require.Equal(t, []time.Duration{0, 0, 0}, []time.Duration{h.Max(), h.Mean(), h.Quantile(1)})
	h.Add(math.MaxInt64)
	require.Equal(t, time.Duration(math.MaxInt64), h.Max())
	require.Equal(t, uint64(2), h.Count())
}

func TestHistogramSum(t *testing.T) {
	var h hierarchy.Histogram
	require.Zero(t, h.Sum())
	h.Add(1500 * time.Millisecond)
	h.Add(250 * time.Millisecond)
	require.Equal(t, 1.75, h.Sum())
	var long hierarchy.Histogram
	for range 2 { // longer together than a Duration can be
		long.Add(math.MaxInt64)
	}
	require.Equal(t, 2*float64(math.MaxInt64)/1e9, long.Sum())
}

func TestHistogramAddAllocatesNothing(t *testing.T) {
	var h hierarchy.Histogram
	h.Add(1)
	require.Zero(t, testing.AllocsPerRun(100, func() { h.Add(time.Second) }))
}
