package peers

import (
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
