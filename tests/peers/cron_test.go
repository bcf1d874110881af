package peers

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A cron.Schedule of robfig/cron implements hierarchy.Schedule.
var _ hierarchy.Schedule = cron.Schedule(nil)

func TestCronSchedules(t *testing.T) {
	for spec, want := range map[string]struct {
		runs  int
		first time.Time
	}{
		"30 4 1,15 * *":   {24, time.Date(1970, 1, 1, 4, 30, 0, 0, time.UTC)},
		"0 12 * * MON":    {52, time.Date(1970, 1, 5, 12, 0, 0, 0, time.UTC)},
		"@every 36h":      {243, time.Date(1970, 1, 2, 12, 0, 0, 0, time.UTC)},
		"*/15 9-17 * * *": {365 * 36, time.Date(1970, 1, 1, 9, 0, 0, 0, time.UTC)},

		"CRON_TZ=Asia/Tokyo 0 6 * * *": {365, time.Date(1970, 1, 1, 21, 0, 0, 0, time.UTC)},
	} {
		t.Run(spec, func(t *testing.T) {
			m := clock.NewMock()
			w, err := hierarchy.New(hierarchy.Config{Clock: m})
			require.NoError(t, err)
			defer w.Stop()
			schedule, err := cron.ParseStandard(spec)
			require.NoError(t, err)
			next := schedule.Next(m.Now())
			require.Equal(t, want.first, next)
			runs := 0
			r, err := w.Schedule(schedule, func() {
				require.Equal(t, next, m.Now())
				next = schedule.Next(next)
				runs++
			})
			require.NoError(t, err)
			m.Set(time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC))
			require.Equal(t, want.runs, runs)
			require.True(t, r.Stop())
		})
	}
}

// On a mock a schedule fires at the same times wherever the test runs.
func TestCronElsewhere(t *testing.T) {
	defer func(before *time.Location) { time.Local = before }(time.Local)
	time.Local = time.FixedZone("Tokyo", 9*3600)
	TestCronSchedules(t)
}

// However the wall clock is set, a schedule of cron never runs before a time of it, nor twice
// for one.
func TestCronWhileTheWallClockIsSet(t *testing.T) {
	for _, spec := range []string{"* * * * *", "*/7 8-17 * * *", "@every 90s", "CRON_TZ=Europe/Berlin 30 2 * * *"} {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			m := clock.NewMock()
			m.Set(time.Date(2030, 3, 30, 0, 0, 0, 0, time.UTC)) // a day before Berlin's clocks go forward
			w, err := hierarchy.New(hierarchy.Config{Clock: m})
			require.NoError(t, err)
			schedule, err := cron.ParseStandard(spec)
			require.NoError(t, err)
			asked := &recording{Schedule: schedule}
			runs := 0
			_, err = w.Schedule(asked, func() {
				require.Equal(t, runs+1, len(asked.given), "it asks once for each run")
				require.False(t, m.Now().Before(asked.given[runs]), "before its time")
				runs++
			})
			require.NoError(t, err)
			for range 300 {
				m.Add(time.Duration(r.Int64N(int64(20 * time.Minute))))
				if r.IntN(4) == 0 {
					m.Jump(time.Duration(r.Int64N(int64(4*time.Hour))) - 2*time.Hour)
				}
			}
			require.Positive(t, runs)
			for i := 1; i < len(asked.given); i++ {
				require.True(t, asked.given[i].After(asked.given[i-1]), "twice for one time")
			}
			w.Stop()
		}
	}
}

// recording notes the times that a schedule gives.
type recording struct {
	cron.Schedule
	given []time.Time
}

func (s *recording) Next(t time.Time) time.Time {
	next := s.Schedule.Next(t)
	s.given = append(s.given, next)
	return next
}
