package repeating

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

func TestAligned(t *testing.T) {
	at := func(s string) time.Time {
		u, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		return u
	}
	for _, c := range []struct {
		period, offset time.Duration
		after, want    string
	}{
		{time.Minute, 0, "2030-05-06T07:08:09.5Z", "2030-05-06T07:09:00Z"},
		{time.Minute, 0, "2030-05-06T07:08:00Z", "2030-05-06T07:09:00Z"},
		{time.Minute, 5 * time.Second, "2030-05-06T07:08:00Z", "2030-05-06T07:08:05Z"},
		{time.Minute, -5 * time.Second, "2030-05-06T07:08:00Z", "2030-05-06T07:08:55Z"},
		{time.Minute, 65 * time.Second, "2030-05-06T07:08:05Z", "2030-05-06T07:09:05Z"},
		{24 * time.Hour, 0, "2030-05-06T07:08:09+09:00", "2030-05-06T09:00:00+09:00"},
		{7 * time.Second, time.Second, "1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:01Z"},
		{7 * time.Second, 0, "1969-12-31T23:59:50Z", "1969-12-31T23:59:53Z"},
		{1, 0, "2030-05-06T07:08:09Z", "2030-05-06T07:08:09.000000001Z"},
		{time.Hour, time.Minute, "0001-01-01T00:00:00Z", "0001-01-01T00:01:00Z"},
		{time.Hour, -time.Minute, "3030-05-06T07:08:09Z", "3030-05-06T07:59:00Z"},
	} {
		next := hierarchy.Aligned(c.period, c.offset).Next(at(c.after))
		require.Equal(t, at(c.want).Format(time.RFC3339Nano), next.Format(time.RFC3339Nano), "%+v", c)
	}
}

// The next time is the first later one that is the offset after a multiple of the period, in
// any year.
func TestAlignedIsTheNextOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		period := 1 + r.Int64()>>r.IntN(63)
		offset := int64(r.Uint64()) >> r.IntN(64)
		now := time.Unix(int64(r.Uint64())>>(6+r.IntN(58)), r.Int64N(1e9))
		next := hierarchy.Aligned(time.Duration(period), time.Duration(offset)).Next(now)
		ahead := next.Sub(now)
		require.Positive(t, ahead)
		require.LessOrEqual(t, ahead, time.Duration(period))
		require.Zero(t, next.Compare(now.Add(ahead)))
		since := sinceEpoch(next)
		require.Zero(t, since.Sub(since, big.NewInt(offset)).Rem(since, big.NewInt(period)).Sign())
	}
}

// sinceEpoch is how many nanoseconds after the Unix epoch t is.
func sinceEpoch(t time.Time) *big.Int {
	n := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(int64(time.Second)))
	return n.Add(n, big.NewInt(int64(t.Nanosecond())))
}

func TestAlignedNeedsAPeriod(t *testing.T) {
	require.PanicsWithValue(t, "hierarchy: Aligned: period 0s must be positive", func() { hierarchy.Aligned(0, 1) })
}

// times is a Schedule of given times.
type times []time.Time

func (s times) Next(t time.Time) time.Time {
	for _, at := range s {
		if at.After(t) {
			return at
		}
	}
	return time.Time{}
}

func TestJittered(t *testing.T) {
	base := time.Unix(1000, 0)
	s := hierarchy.Jittered(times{base, base.Add(time.Minute)}, time.Second)
	seen := map[time.Time]bool{}
	for range 1000 {
		next := s.Next(base.Add(-1))
		require.False(t, next.Before(base))
		require.Less(t, next.Sub(base), time.Second)
		seen[next] = true
	}
	require.Greater(t, len(seen), 990, "the delay must be random")
	require.False(t, s.Next(base).Before(base.Add(time.Minute)))
	require.Zero(t, s.Next(base.Add(time.Minute)))
	require.Equal(t, times{base}, hierarchy.Jittered(times{base}, 0))
	require.PanicsWithValue(t, "hierarchy: Jittered: schedule is nil", func() { hierarchy.Jittered(nil, 1) })
}

// A random delay does not make a schedule advance.
func TestJitteredOverAScheduleThatStandsStill(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	runs := 0
	_, err := w.Schedule(hierarchy.Jittered(standing{}, time.Second), func() { runs++ })
	require.NoError(t, err)
	m.Add(time.Hour)
	require.Zero(t, runs)
	require.Zero(t, w.Len(), "the Repeater must have ended")
}

// standing is a Schedule that returns its argument.
type standing struct{}

func (standing) Next(t time.Time) time.Time { return t }

// Runs of a Schedule with a random delay do not come before their times, nor twice for one.
func TestJitteredOnAWheel(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	var runs []time.Duration
	_, err := w.Schedule(hierarchy.Jittered(hierarchy.Aligned(time.Minute, 0), 150*time.Second), func() {
		runs = append(runs, m.Elapsed())
	})
	require.NoError(t, err)
	m.Add(100 * time.Hour)
	require.Greater(t, len(runs), 1000)
	for i := 1; i < len(runs); i++ {
		require.Greater(t, runs[i]/time.Minute, runs[i-1]/time.Minute)
	}
}
