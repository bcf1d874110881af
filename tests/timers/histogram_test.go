package timers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
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

// late has w, which is on c, fire a timer late by d.
func late(c *wheeltest.LateClock, w *hierarchy.Wheel, d time.Duration) error {
	_, err := w.AfterFunc(time.Second, func() {})
	c.Time += time.Second + d
	c.Ring()
	return err
}

// Each duration is in the first bucket whose bound it does not exceed. Buckets come in
// ascending order, each once, and none is empty.
func TestBucketsHoldWhatWasCounted(t *testing.T) {
	c := &wheeltest.LateClock{}
	w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	require.NoError(t, err)
	defer w.Stop()
	r := rand.New(rand.NewPCG(1, 2))
	all := []time.Duration{0, 0, 7, 8, time.Millisecond}
	for range 500 {
		all = append(all, time.Duration(r.Int64N(1<<uint(1+r.IntN(40)))))
	}
	for _, d := range all {
		require.NoError(t, late(c, w, d))
	}
	slices.Sort(all)
	last := time.Duration(-1)
	for upTo, n := range w.Stats().Lateness.Buckets() {
		require.Greater(t, upTo, last)
		held := all[:n]
		require.Greater(t, held[0], last)
		require.LessOrEqual(t, held[n-1], upTo)
		require.LessOrEqual(t, upTo, held[0]+held[0]/8, "a bucket is wider than an eighth of its values")
		all, last = all[n:], upTo
	}
	require.Empty(t, all)
}

func TestBucketsEndWhenAsked(t *testing.T) {
	c := &wheeltest.LateClock{}
	w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	require.NoError(t, err)
	defer w.Stop()
	for upTo := range w.Stats().Lateness.Buckets() {
		require.Fail(t, "an empty Histogram has a bucket", "%v", upTo)
	}
	require.NoError(t, late(c, w, 1))
	require.NoError(t, late(c, w, 2))
	for upTo, n := range w.Stats().Lateness.Buckets() {
		require.EqualValues(t, 1, upTo)
		require.EqualValues(t, 1, n)
		break
	}
}

func TestHistogramAsText(t *testing.T) {
	require.Equal(t, "nothing counted", hierarchy.Histogram{}.String())
	require.Equal(t, "0 pending, 0 fired", fmt.Sprint(hierarchy.Stats{}))
	c := &wheeltest.LateClock{}
	w := wheeltest.New(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	for range 100 {
		require.NoError(t, late(c, w, 20*time.Microsecond))
	}
	require.NoError(t, late(c, w, 1234567*time.Nanosecond))
	require.Equal(t, "p50 20.5µs, p99 20.5µs, p99.9 1.23ms, max 1.23ms", fmt.Sprintf("%v", w.Stats().Lateness))
}
