package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// lateClock rings when the test rings it, however late that is.
type lateClock struct {
	elapsed time.Duration
	ring    func()
}

func (c *lateClock) Now() time.Time                   { return time.Unix(0, int64(c.elapsed)) }
func (c *lateClock) Elapsed() time.Duration           { return c.elapsed }
func (c *lateClock) NewAlarm(ring func()) clock.Alarm { c.ring = ring; return c }
func (*lateClock) Set(time.Duration)                  {}
func (*lateClock) Stop()                              {}
func (c *lateClock) late(w *hierarchy.Wheel, d time.Duration) error {
	_, err := w.AfterFunc(time.Second, func() {})
	c.elapsed += time.Second + d
	c.ring()
	return err
}

// Each duration is in the first bucket whose bound it does not exceed. Buckets come in
// ascending order, each once, and none is empty.
func TestBucketsHoldWhatWasCounted(t *testing.T) {
	c := &lateClock{}
	w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	require.NoError(t, err)
	defer w.Stop()
	r := rand.New(rand.NewPCG(1, 2))
	all := []time.Duration{0, 0, 7, 8, time.Millisecond}
	for range 500 {
		all = append(all, time.Duration(r.Int64N(1<<uint(1+r.IntN(40)))))
	}
	for _, d := range all {
		require.NoError(t, c.late(w, d))
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
	c := &lateClock{}
	w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	require.NoError(t, err)
	defer w.Stop()
	for upTo := range w.Stats().Lateness.Buckets() {
		require.Fail(t, "an empty Histogram has a bucket", "%v", upTo)
	}
	require.NoError(t, c.late(w, 1))
	require.NoError(t, c.late(w, 2))
	for upTo, n := range w.Stats().Lateness.Buckets() {
		require.EqualValues(t, 1, upTo)
		require.EqualValues(t, 1, n)
		break
	}
}

func ExampleHistogram_Buckets() {
	m := clock.NewMock() // nothing is late on a mock
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	for range 3 {
		w.AfterFunc(time.Second, func() {})
	}
	m.Add(time.Minute)
	for upTo, n := range w.Stats().Lateness.Buckets() {
		fmt.Println(n, "late by at most", upTo)
	}
	// Output: 3 late by at most 0s
}
