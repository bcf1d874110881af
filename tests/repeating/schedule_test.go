package repeating

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// hourly is a Schedule that never ends.
var hourly = wheeltest.Planned(func(t time.Time) time.Time { return t.Add(time.Hour) })

func TestScheduleThatPanics(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1, OnPanic: func(any, []byte) {}})
	runs := 0
	r := wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time {
		if runs == 1 {
			panic("oh")
		}
		return now.Add(time.Second)
	}), func() { runs++ })
	m.Add(time.Minute)
	require.EqualValues(t, 1, w.Stats().Panics)
	if r.Reset(time.Second) {
		m.Add(time.Second)
		require.Equal(t, 2, runs, "Reset was true")
	} else {
		require.Zero(t, w.Len(), "it has ended")
	}
}

// However the wall clock is set, a Schedule never runs before a time of it, nor twice for one.
func TestScheduleWhileTheWallClockIsSet(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		asked := &recording{Schedule: hierarchy.Aligned(time.Minute, 7*time.Second)}
		runs := 0
		_, err := w.Schedule(asked, func() {
			require.False(t, m.Now().Before(asked.given[runs]), "before its time")
			runs++
		})
		require.NoError(t, err)
		for range 200 {
			m.Add(time.Duration(r.Int64N(int64(2 * time.Minute))))
			if r.IntN(4) == 0 {
				m.Jump(time.Duration(r.Int64N(int64(2*time.Hour))) - time.Hour)
			}
		}
		require.Positive(t, runs)
		for i := 1; i < len(asked.given); i++ {
			require.True(t, asked.given[i].After(asked.given[i-1]), "twice for one time")
		}
	}
}

// A time after the end of the clock's time never comes, so the Repeater ends instead of running
// before it.
func TestScheduleAtTheEndOfTime(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	m.Add(math.MaxInt64 - 90*time.Minute)
	start := m.Now()
	var runs []time.Duration
	r, err := w.Schedule(hourly, func() { runs = append(runs, m.Now().Sub(start)) })
	require.NoError(t, err)
	m.Add(3 * time.Hour)
	require.Equal(t, []time.Duration{time.Hour}, runs)
	require.False(t, r.Stop(), "the Repeater must have ended")
	require.Zero(t, w.Len())
}

// recording notes the times that a Schedule gives.
type recording struct {
	hierarchy.Schedule
	given []time.Time
}

func (s *recording) Next(t time.Time) time.Time {
	next := s.Schedule.Next(t)
	s.given = append(s.given, next)
	return next
}
