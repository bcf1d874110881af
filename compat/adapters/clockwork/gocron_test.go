package clockwork_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/clockwork"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// newScheduler returns a gocron scheduler whose jobs are timers of w. gocron reads calendar
// times in the zone of WithLocation.
func newScheduler(w *hierarchy.Wheel) (gocron.Scheduler, error) {
	return gocron.NewScheduler(
		gocron.WithClock(clockwork.New(w)),
		gocron.WithLocation(time.UTC),
	)
}

// A day of backups takes a moment on a mock. gocron runs a job in a goroutine, and sets its
// next timer there. So the test waits until that timer is pending before it moves the clock.
func TestBackupsOnAMock(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()

	s, err := newScheduler(w)
	require.NoError(t, err)
	backups := make(chan time.Duration, 1)
	backup := func() { backups <- m.Elapsed() }
	_, err = s.NewJob(gocron.DurationJob(6*time.Hour), gocron.NewTask(backup))
	require.NoError(t, err)
	s.Start()

	for n := range time.Duration(4) {
		require.NoError(t, m.WaitFor(t.Context(), 1))
		m.AddNext()
		require.Equal(t, (n+1)*6*time.Hour, <-backups)
	}
	require.NoError(t, s.Shutdown())
}

// agenda runs jobs of several kinds for three days, and returns what ran when.
func agenda(t *testing.T) (trace []string) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	s, err := newScheduler(w)
	require.NoError(t, err)

	ran := make(chan string, 8)
	for name, when := range map[string]gocron.JobDefinition{
		"every 7h":  gocron.DurationJob(7 * time.Hour),
		"every 31h": gocron.DurationJob(31 * time.Hour),
		"at noon":   gocron.CronJob("0 12 * * *", false),
		"at 6:30":   gocron.DailyJob(1, gocron.NewAtTimes(gocron.NewAtTime(6, 30, 0))),
	} {
		_, err := s.NewJob(when, gocron.NewTask(func() { ran <- name }))
		require.NoError(t, err)
	}
	s.Start()
	const jobs = 4
	for {
		require.NoError(t, m.WaitFor(t.Context(), jobs))
		if next, _ := m.Next(); m.Elapsed()+next > 72*time.Hour {
			break
		}
		m.AddNext() // no two of these jobs are due at once
		trace = append(trace, fmt.Sprint(m.Elapsed(), " ", <-ran))
	}
	require.Empty(t, ran)
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
	for range 10 {
		require.Equal(t, want, agenda(t))
	}
}

// Removing a job stops its timer, and a one-time job is due once.
func TestGocronStopsItsTimers(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	s, err := newScheduler(w)
	require.NoError(t, err)
	s.Start()

	removed, err := s.NewJob(gocron.DurationJob(time.Minute), gocron.NewTask(func() { t.Error("ran") }))
	require.NoError(t, err)
	ran := make(chan time.Duration, 1)
	_, err = s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartDateTime(m.Now().Add(time.Hour))),
		gocron.NewTask(func(context.Context) { ran <- m.Elapsed() }))
	require.NoError(t, err)
	require.NoError(t, m.WaitFor(t.Context(), 2))
	require.NoError(t, s.RemoveJob(removed.ID()))
	require.Len(t, s.Jobs(), 1) // this waits until the job was removed
	require.Equal(t, 1, w.Len())
	m.Add(time.Hour)
	require.Equal(t, time.Hour, <-ran)
	require.NoError(t, s.Shutdown())
	require.Zero(t, w.Len())
}
