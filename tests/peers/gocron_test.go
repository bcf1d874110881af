package peers

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/clockwork"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// newScheduler returns a gocron scheduler whose jobs are timers of w. gocron reads calendar
// times in the zone of WithLocation.
func newScheduler(w *hierarchy.Wheel) (gocron.Scheduler, error) {
	return gocron.NewScheduler(
		gocron.WithClock(clockwork.New(w)),
		gocron.WithLocation(time.UTC),
	)
}

// pass moves m by d, to one deadline after the other. It waits before and after each until the
// goroutines of the code under test have nothing left to do. It is for testing/synctest.
func pass(m *clock.Mock, d time.Duration) {
	end := m.Elapsed() + d
	for synctest.Wait(); ; synctest.Wait() {
		if next, ok := m.Next(); !ok || next > end-m.Elapsed() {
			break
		}
		m.AddNext()
	}
	m.Add(end - m.Elapsed())
}

func TestBackupsOnAMock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewMock()
		w, err := hierarchy.New(hierarchy.Config{Clock: m})
		require.NoError(t, err)
		defer w.Stop()
		s, err := newScheduler(w)
		require.NoError(t, err)

		var backups []time.Duration
		backup := func() { backups = append(backups, m.Elapsed()) }
		_, err = s.NewJob(gocron.DurationJob(6*time.Hour), gocron.NewTask(backup))
		require.NoError(t, err)
		s.Start()
		pass(m, 24*time.Hour)
		require.Equal(t, []time.Duration{6 * time.Hour, 12 * time.Hour, 18 * time.Hour, 24 * time.Hour}, backups)
		require.NoError(t, s.Shutdown())
	})
}

// agenda runs jobs of several kinds for three days, and returns what ran when.
func agenda(t *testing.T) (trace []string) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	s, err := newScheduler(w)
	require.NoError(t, err)

	// No two of these jobs are due at once.
	for name, when := range map[string]gocron.JobDefinition{
		"every 7h":  gocron.DurationJob(7 * time.Hour),
		"every 31h": gocron.DurationJob(31 * time.Hour),
		"at noon":   gocron.CronJob("0 12 * * *", false),
		"at 6:30":   gocron.DailyJob(1, gocron.NewAtTimes(gocron.NewAtTime(6, 30, 0))),
	} {
		run := func() { trace = append(trace, fmt.Sprint(m.Elapsed(), " ", name)) }
		_, err := s.NewJob(when, gocron.NewTask(run))
		require.NoError(t, err)
	}
	s.Start()
	pass(m, 72*time.Hour)
	require.Equal(t, 4, w.Len())
	require.NoError(t, s.Shutdown())
	require.Zero(t, w.Len()) // gocron has stopped all timers
	return trace
}

func TestGocronIsDeterministicOnAMock(t *testing.T) {
	want := []string{
		"6h30m0s at 6:30", "7h0m0s every 7h", "12h0m0s at noon", "14h0m0s every 7h",
		"21h0m0s every 7h", "28h0m0s every 7h", "30h30m0s at 6:30", "31h0m0s every 31h",
		"35h0m0s every 7h", "36h0m0s at noon", "42h0m0s every 7h", "49h0m0s every 7h",
		"54h30m0s at 6:30", "56h0m0s every 7h", "60h0m0s at noon", "62h0m0s every 31h",
		"63h0m0s every 7h", "70h0m0s every 7h",
	}
	for range 3 {
		synctest.Test(t, func(t *testing.T) { require.Equal(t, want, agenda(t)) })
	}
}

// calendar makes gocron read a text as hierarchy/schedule does. The zone is that of WithLocation unless the text has one.
type calendar struct{ schedule.Schedule }

func (c *calendar) IsValid(text string, zone *time.Location, now time.Time) (err error) {
	if !strings.Contains(text, "TZ=") {
		text = "CRON_TZ=" + zone.String() + " " + text
	}
	if c.Schedule, err = schedule.Parse(text); err == nil && c.Next(now).IsZero() {
		err = gocron.ErrCronJobInvalid
	}
	return err
}

func newNightlyJob(s gocron.Scheduler, task gocron.Task) (gocron.Job, error) {
	return s.NewJob(gocron.CronJob("30 2 * * *", false), task, gocron.WithCronImplementation(&calendar{}))
}

// In the night in which Berlin's clocks go forward, gocron's own parser has no run at 02:30, and that of hierarchy/schedule
// one at 03:00.
func TestGocronWithOurSchedules(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewMock()
		m.Set(time.Date(2030, 3, 30, 12, 0, 0, 0, time.UTC))
		w, err := hierarchy.New(hierarchy.Config{Clock: m})
		require.NoError(t, err)
		defer w.Stop()
		s, err := gocron.NewScheduler(gocron.WithClock(clockwork.New(w)), gocron.WithLocation(berlin))
		require.NoError(t, err)
		var ran []string
		note := func(name string) gocron.Task {
			return gocron.NewTask(func() { ran = append(ran, m.Now().Format("02T15:04 ")+name) })
		}
		_, err = newNightlyJob(s, note("ours"))
		require.NoError(t, err)
		_, err = s.NewJob(gocron.CronJob("45 2 * * *", false), note("gocron's"))
		require.NoError(t, err)
		_, err = s.NewJob(gocron.CronJob("0 0 30 2 *", false), note("never"), gocron.WithCronImplementation(&calendar{}))
		require.ErrorIs(t, err, gocron.ErrCronJobInvalid)
		s.Start()
		pass(m, 48*time.Hour)
		require.Equal(t, []string{"31T01:00 ours", "01T00:30 ours", "01T00:45 gocron's"}, ran)
		require.NoError(t, s.Shutdown())
	})
}

// River takes our Schedules as they are.
var _ river.PeriodicSchedule = schedule.Schedule{}

// Removing a job stops its timer, and a one-time job is due once.
func TestGocronStopsItsTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewMock()
		w, err := hierarchy.New(hierarchy.Config{Clock: m})
		require.NoError(t, err)
		defer w.Stop()
		s, err := newScheduler(w)
		require.NoError(t, err)
		s.Start()

		var ran []time.Duration
		run := gocron.NewTask(func() { ran = append(ran, m.Elapsed()) })
		removed, err := s.NewJob(gocron.DurationJob(time.Minute), run)
		require.NoError(t, err)
		_, err = s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartDateTime(m.Now().Add(time.Hour))), run)
		require.NoError(t, err)
		pass(m, 90*time.Second)
		require.NoError(t, s.RemoveJob(removed.ID()))
		synctest.Wait()
		require.Equal(t, 1, w.Len())
		pass(m, 24*time.Hour)
		require.Equal(t, []time.Duration{time.Minute, time.Hour}, ran)
		require.Zero(t, w.Len())
		require.NoError(t, s.Shutdown())
	})
}
