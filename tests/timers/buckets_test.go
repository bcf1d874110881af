package timers

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

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
