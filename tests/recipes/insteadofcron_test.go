package recipes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/cron"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

func TestBackupsOfACron(t *testing.T) {
	backups := 0
	backup := func() { backups++ }

	m := clock.NewMock()
	c := cron.New(cron.WithClock(m), cron.WithLocation(time.UTC))
	if _, err := c.AddFunc("@daily", backup); err != nil {
		t.Fatal(err)
	}
	c.Start()
	m.Add(7 * 24 * time.Hour)
	<-c.Stop().Done()

	require.Equal(t, 7, backups)
}

func TestDaylightOfACron(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)

	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.Daylight)
	c := cron.New(cron.WithParser(parser), cron.WithLocation(berlin))

	id, err := c.AddFunc("30 2 * * *", func() {})
	require.NoError(t, err)
	evening := time.Date(2030, 3, 30, 20, 0, 0, 0, berlin)
	require.Equal(t, "31 Mar 2030 03:00 CEST", c.Entry(id).Schedule.Next(evening).Format("2 Jan 2006 15:04 MST"))
	var _ cron.Schedule = schedule.MustParse("MISSED=skip @daily")
}
