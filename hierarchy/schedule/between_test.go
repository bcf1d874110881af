package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// The runs between two times are those of the schedule, however they are counted, and the text makes the same schedule.
func TestBetween(t *testing.T) {
	start := at(t, "2024-03-30T12:34:56.789Z")
	for _, text := range []string{"0 2 * * *", "CRON_TZ=Europe/Berlin */20 2 * * *", "MISSED=all SPREAD=90m @hourly", "* * * * * *"} {
		s := parse(t, text)
		for _, first := range []time.Duration{-time.Hour, 0, time.Hour, 36 * time.Hour} {
			for _, last := range []time.Duration{-time.Minute, 0, time.Second, 30 * time.Hour, 400 * time.Hour} {
				from, until := start.Add(first), start.Add(first+last)
				some := schedule.Between(s, from, until)
				require.True(t, some == parse(t, some.String()), some)
				run, want := start, s.Next(from.Add(-1))
				if from.Before(start) {
					want = s.Next(start)
				}
				n := 0
				for ; n < 200 && !want.After(until); n++ {
					run = some.Next(run)
					require.Equal(t, want, run, "%v", some)
					require.Equal(t, n+1, some.Count(start, run), "%v", some)
					want = s.Next(want)
				}
				if n < 200 {
					require.Zero(t, some.Next(run), "%v", some)
					require.Equal(t, n, some.Count(start, until.AddDate(1, 0, 0)), "%v", some)
				}
			}
		}
	}
}

// The runs of "@every" begin at from.
func TestBetweenEvery(t *testing.T) {
	from, until := at(t, "2030-01-31T12:00:00.5Z"), at(t, "2030-01-31T12:03:00.5Z")
	s := schedule.Between(parse(t, "@every 90s"), from, until)
	require.Equal(t, "FROM=2030-01-31T12:00:00.5Z UNTIL=2030-01-31T12:03:00.5Z @every 1m30s", schedule.Between(parse(t, "@every 1m30s"), from, until).String())
	var runs []time.Time
	for run := s.Next(from.Add(-time.Hour)); !run.IsZero(); run = s.Next(run) {
		runs = append(runs, run)
	}
	require.Equal(t, []time.Time{from, from.Add(90 * time.Second), until}, runs)
	require.Equal(t, 3, s.Count(from.Add(-1), until.Add(time.Hour)))
	require.Equal(t, 2, s.Count(from, until))
	require.Zero(t, s.Count(from.Add(-time.Hour), from.Add(-1)))
	require.Zero(t, s.Count(until, until.Add(time.Hour)))
}

func TestBetweenNoTimes(t *testing.T) {
	s, when := parse(t, "@daily"), at(t, "2030-01-31T12:00:00Z")
	require.Zero(t, schedule.Between(schedule.Schedule{}, when, when))
	require.True(t, s == schedule.Between(schedule.Between(s, when, when.Add(time.Hour)), time.Time{}, time.Time{}))
	require.True(t, schedule.Between(s, when, when) == schedule.Between(s, when.In(time.FixedZone("", 3600)), when))
	from, until := schedule.Between(s, when, when.Add(1)).Bounds()
	require.Equal(t, []time.Time{when, when.Add(1)}, []time.Time{from, until})
	require.Zero(t, schedule.Between(s, when, when.Add(-1)).Next(when.AddDate(-1, 0, 0)))
	require.Panics(t, func() { schedule.Between(s, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}) })
	for _, text := range []string{"FROM= @daily", "UNTIL=2030-01-31 @daily", "FROM=2030-01-31T12:00:00Z FROM=2030-01-31T12:00:00Z @daily", "FROM=0001-01-01T00:00:00Z @daily"} {
		_, err := schedule.Parse(text)
		require.ErrorContains(t, err, "time, column", text)
	}
}
