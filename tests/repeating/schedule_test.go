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

func TestScheduleIsAskedAfterEachRun(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	var trace []string
	note := func(what string) { trace = append(trace, what+" "+m.Elapsed().String()) }
	r := wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time {
		require.Equal(t, m.Now(), now)
		note("ask")
		if m.Elapsed() >= 3*time.Second {
			return time.Time{}
		}
		return now.Add(1500 * time.Millisecond)
	}), func() { note("run") })
	require.Equal(t, 1, w.Len())
	m.Add(time.Hour)
	require.Equal(t, []string{"ask 0s", "run 1.5s", "ask 1.5s", "run 3s", "ask 3s"}, trace)
	require.Zero(t, w.Len(), "a zero time must end the Repeater")
	require.False(t, r.Stop())
	require.False(t, r.Reset(time.Second))
	wheeltest.RequireBalance(t, w)
}

func TestScheduleThatEndsAtOnce(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
	r := wheeltest.Schedule(t, w, wheeltest.Planned(func(time.Time) time.Time { return time.Time{} }), nop)
	require.False(t, r.Stop())
	require.False(t, r.Reset(time.Second))
	require.Zero(t, w.Stats().Scheduled)
	_, err := w.AfterFunc(0, nop)
	require.NoError(t, err)
}

func TestScheduleGivesUpItsPlace(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
	asked := 0
	wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time {
		if asked++; asked == 4 {
			return time.Time{}
		}
		return now.Add(time.Second)
	}), nop)
	for range 3 {
		_, err := w.AfterFunc(0, nop)
		require.ErrorIs(t, err, hierarchy.ErrFull)
		m.Add(time.Second)
	}
	_, err := w.AfterFunc(0, nop)
	require.NoError(t, err)
}

func TestScheduleWaitsForItsWallTime(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	noon := m.Now().Add(12 * time.Hour)
	var runs []time.Time
	wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time {
		if now.Before(noon) {
			return noon
		}
		return time.Time{}
	}), func() { runs = append(runs, m.Now()) })
	for range 3 {
		m.Add(11 * time.Hour)
		m.Jump(-11 * time.Hour)
	}
	m.Add(12*time.Hour - 1)
	require.Empty(t, runs)
	require.Equal(t, 1, w.Len())
	m.Add(1)
	require.Equal(t, []time.Time{noon}, runs)
	wheeltest.RequireBalance(t, w)
}

// A Schedule that returns no later time than the one passed to it ends the Repeater. It
// would otherwise run for ever at one instant.
func TestScheduleThatDoesNotAdvance(t *testing.T) {
	for _, back := range []time.Duration{0, 1, time.Hour} {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		asked, runs := 0, 0
		r := wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time {
			if asked++; asked < 4 {
				return now.Add(time.Second)
			}
			return now.Add(-back)
		}), func() { runs++ })
		m.Add(time.Minute)
		require.Equal(t, 3, runs)
		require.Equal(t, 4, asked)
		require.False(t, r.Stop(), "the Repeater must have ended")
		require.Zero(t, w.Len())

		again := 0
		r = wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time { return now.Add(-back) }), func() { again++ })
		m.Add(time.Minute)
		require.LessOrEqual(t, again, 1)
		require.False(t, r.Stop(), "it has ended")
		wheeltest.RequireBalance(t, w)
	}
}

// Times that have passed are due at once, as long as the schedule advances, and no more
// than a thousand in a row.
func TestScheduleThatIsBehind(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	next := m.Now()
	runs := 0
	m.Add(500 * time.Second)
	wheeltest.Schedule(t, w, wheeltest.Planned(func(time.Time) time.Time {
		next = next.Add(time.Second)
		return next
	}), func() { runs++ })
	m.Add(0)
	require.Equal(t, 499, runs, "all that have passed but the one of now")

	next = next.Add(-time.Hour)
	runs = 0
	wheeltest.Schedule(t, w, wheeltest.Planned(func(time.Time) time.Time {
		next = next.Add(1)
		return next
	}), func() { runs++ })
	m.Add(0)
	require.Equal(t, 1000, runs)
	require.Zero(t, w.Len())
}

func TestScheduleResetToAPeriod(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	runs := 0
	r := wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time { return now.Add(time.Hour) }), func() { runs++ })
	m.Add(90 * time.Minute)
	require.True(t, r.Reset(time.Second))
	m.Add(time.Minute)
	require.Equal(t, 61, runs)
	require.True(t, r.Stop())
	require.Zero(t, w.Len())
}

func TestScheduleStopAndResetInsideItsFunction(t *testing.T) {
	for _, stop := range []bool{true, false} {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		runs := 0
		var r *hierarchy.Repeater
		r = wheeltest.Schedule(t, w, wheeltest.Planned(func(now time.Time) time.Time { return now.Add(time.Hour) }), func() {
			runs++
			if stop {
				require.True(t, r.Stop())
			} else {
				require.True(t, r.Reset(20*time.Minute))
			}
		})
		m.Add(2 * time.Hour)
		require.Equal(t, map[bool]int{true: 1, false: 4}[stop], runs)
	}
}

// If the first call of Next panics, the call of Schedule panics and sets no timer.
func TestScheduleThatPanicsAtOnce(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
	require.Panics(t, func() {
		_, _ = w.Schedule(wheeltest.Planned(func(time.Time) time.Time { panic("oh") }), nop)
	})
	_, err := w.AfterFunc(0, nop)
	require.NoError(t, err)
	require.EqualValues(t, 1, w.Stats().Scheduled)
}

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
