package prometheus_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/adapters/prometheus"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// durations returns durations of all magnitudes, also 0, the longest, and both sides of each classic bound.
func durations(seed uint64) (all []time.Duration) {
	r := rand.New(rand.NewPCG(seed, 3))
	all = append(all, 0, 0, 1, math.MaxInt64)
	for power := range 62 {
		all = append(all, 1<<power-1, 1<<power)
	}
	for range r.IntN(1000) {
		all = append(all, time.Duration(r.Int64N(1<<(1+r.IntN(62)))))
	}
	return all
}

func histogramOf(all []time.Duration) (h hierarchy.Histogram) {
	for _, d := range all {
		h.Add(d)
	}
	return h
}

func written(t *testing.T, m client.Metric) *dto.Metric {
	var out dto.Metric
	require.NoError(t, m.Write(&out))
	return &out
}

var desc = client.NewDesc("took_seconds", "Durations.", []string{"what"}, client.Labels{"name": "a"})

func exported(t *testing.T, h hierarchy.Histogram) *dto.Histogram {
	return written(t, prometheus.Histogram(desc, h, "read")).GetHistogram()
}

// A classic bucket counts exactly what is not longer than its bound, as a bound in seconds and as one of nanoseconds.
func TestClassicBucketsAreExact(t *testing.T) {
	for seed := range uint64(20) {
		all := durations(seed)
		got := exported(t, histogramOf(all))
		require.Len(t, got.GetBucket(), 24)
		before := 0.0
		for _, b := range got.GetBucket() {
			require.Greater(t, b.GetUpperBound(), before)
			before = b.GetUpperBound()
			n := uint64(0)
			for _, d := range all {
				if float64(d)/1e9 <= b.GetUpperBound() {
					n++
				}
			}
			require.Equal(t, n, b.GetCumulativeCount(), "le %v", b.GetUpperBound())
		}
		require.Equal(t, uint64(len(all)), got.GetSampleCount())
	}
	buckets := exported(t, hierarchy.Histogram{}).GetBucket()
	require.Equal(t, 8191e-9, buckets[0].GetUpperBound())
	require.Equal(t, 68.719476735, buckets[23].GetUpperBound())
}

// The native buckets are those of a native histogram of the client that has observed the upper bounds of the buckets
// of ours.
func TestNativeBucketsAreThoseOfTheClient(t *testing.T) {
	for seed := range uint64(20) {
		h := histogramOf(durations(seed))
		oracle := client.NewHistogram(client.HistogramOpts{NativeHistogramBucketFactor: 1.2,
			NativeHistogramZeroThreshold: client.NativeHistogramZeroThresholdZero})
		for upTo, n := range h.Buckets() {
			for range n {
				oracle.Observe(float64(upTo) / 1e9)
			}
		}
		want, got := written(t, oracle).GetHistogram(), exported(t, h)
		require.EqualValues(t, 2, want.GetSchema(), "the oracle has the bounds of ours")
		require.Equal(t, want.GetSchema(), got.GetSchema())
		require.Equal(t, want.GetZeroCount(), got.GetZeroCount())
		require.Equal(t, counts(want), counts(got))
	}
}

// counts returns the counts of native buckets that are not empty, by index.
func counts(h *dto.Histogram) map[int]int64 {
	all := make(map[int]int64)
	at, n, deltas := 0, int64(0), h.GetPositiveDelta()
	for _, span := range h.GetPositiveSpan() {
		at += int(span.GetOffset())
		for range span.GetLength() {
			n += deltas[0]
			deltas = deltas[1:]
			if n != 0 {
				all[at] = n
			}
			at++
		}
	}
	return all
}

// Both kinds have the same count and sum, and nothing is counted twice or left out.
func TestHistogramIsConsistent(t *testing.T) {
	h := histogramOf(durations(1))
	got := exported(t, h)
	sum := got.GetZeroCount()
	for _, n := range counts(got) {
		sum += uint64(n)
	}
	require.Equal(t, h.Count(), sum)
	require.Equal(t, h.Count(), got.GetSampleCount())
	require.Equal(t, h.Sum(), got.GetSampleSum())
	last := got.GetBucket()[len(got.GetBucket())-1]
	require.Less(t, last.GetCumulativeCount(), got.GetSampleCount(), "some are longer than the last bound")
}

func TestEmptyHistogram(t *testing.T) {
	got := exported(t, hierarchy.Histogram{})
	require.Zero(t, got.GetSampleCount())
	require.Zero(t, got.GetSampleSum())
	require.Len(t, got.GetBucket(), 24, "rate needs the buckets from the beginning")
	require.Empty(t, got.GetPositiveSpan())
	require.Positive(t, got.GetZeroThreshold(), "by which a server sees that it is native, too")
}

func TestHistogramHasItsLabels(t *testing.T) {
	m := prometheus.Histogram(desc, hierarchy.Histogram{}, "read")
	require.Equal(t, desc, m.Desc())
	labels := make(map[string]string)
	for _, l := range written(t, m).GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	require.Equal(t, map[string]string{"name": "a", "what": "read"}, labels)
	for _, wrong := range [][]string{{}, {"a", "b"}, {"\xff"}} {
		require.Error(t, prometheus.Histogram(desc, hierarchy.Histogram{}, wrong...).Write(&dto.Metric{}), "%q", wrong)
	}
}

// What is added to a Histogram later is not in a metric of before.
func TestHistogramIsASnapshot(t *testing.T) {
	h := histogramOf([]time.Duration{time.Second})
	m := prometheus.Histogram(desc, h, "read")
	before := written(t, m).GetHistogram().String()
	h.Add(time.Second)
	require.Equal(t, before, written(t, m).GetHistogram().String())
}

// Counts and sums never decrease and bounds never change: Prometheus would take a decrease for a restart.
func TestNothingDecreases(t *testing.T) {
	var h hierarchy.Histogram
	before := exported(t, h)
	for _, d := range durations(0)[:200] {
		h.Add(d)
		now := exported(t, h)
		require.Less(t, before.GetSampleCount(), now.GetSampleCount())
		require.LessOrEqual(t, before.GetSampleSum(), now.GetSampleSum())
		for i, b := range now.GetBucket() {
			require.Equal(t, before.GetBucket()[i].GetUpperBound(), b.GetUpperBound())
			require.LessOrEqual(t, before.GetBucket()[i].GetCumulativeCount(), b.GetCumulativeCount())
		}
		native := counts(now)
		for at, n := range counts(before) {
			require.LessOrEqual(t, n, native[at])
		}
		before = now
	}
}
