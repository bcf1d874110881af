package robfig

import (
	"strings"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	robfig "github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/cron"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// parsers make schedules of the same text, in Berlin. asynq has robfig/cron's parser, and no way to call it.
var parsers = map[string]func(text string, berlin *time.Location) (times, error){
	"robfig": func(text string, _ *time.Location) (times, error) {
		return robfig.ParseStandard("CRON_TZ=Europe/Berlin " + text)
	},
	"gocron": func(text string, berlin *time.Location) (times, error) {
		c := gocron.NewDefaultCron(false)
		return c, c.IsValid(text, berlin, time.Unix(0, 0))
	},
	"compat/cron": func(text string, _ *time.Location) (times, error) {
		return cron.ParseStandard("CRON_TZ=Europe/Berlin " + text)
	},
	"Daylight": func(text string, _ *time.Location) (times, error) {
		return cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.Daylight).
			Parse("CRON_TZ=Europe/Berlin " + text)
	},
	"schedule": func(text string, _ *time.Location) (times, error) {
		return schedule.Parse("CRON_TZ=Europe/Berlin " + text)
	},
}

// The table of docs/instead-of-cron.md: what runs between 01:00 and 04:00 in the nights in which clocks change. The first three
// parsers agree, and so do the last two.
func TestTheSameTextElsewhere(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for _, c := range []struct{ text, night, shown, once string }{
		{"30 2 * * *", "2030-03-31", "", "03:00 CEST"},
		{"30 2 * * *", "2030-10-27", "02:30 CEST, 02:30 CET", "02:30 CEST"},
		{"30 * * * *", "2030-03-31", "01:30 CET, 03:30 CEST", "01:30 CET, 03:00 CEST, 03:30 CEST"},
		{"30 * * * *", "2030-10-27", "01:30 CEST, 02:30 CEST, 02:30 CET, 03:30 CET", "01:30 CEST, 02:30 CEST, 02:30 CET, 03:30 CET"},
		{"@hourly", "2030-03-31", "03:00 CEST", "03:00 CEST"},
	} {
		for name, parse := range parsers {
			s, err := parse(c.text, berlin)
			require.NoError(t, err)
			night, err := time.ParseInLocation(time.DateOnly, c.night, berlin)
			require.NoError(t, err)
			var runs []string
			for at := s.Next(night.Add(time.Hour)); at.Hour() < 4 && at.Day() == night.Day(); at = s.Next(at) {
				runs = append(runs, at.In(berlin).Format("15:04 MST"))
			}
			want := c.shown
			if name == "Daylight" || name == "schedule" {
				want = c.once
			}
			require.Equal(t, want, strings.Join(runs, ", "), "%s by %s on %s", c.text, name, c.night)
		}
	}
}
