package cron_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/cron"
)

// These tests run in bubbles, whose time begins at midnight and passes when nothing else happens. Jobs are in goroutines
// of their own, as in production.

// pass lets time pass, and then everything happen that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func done(ctx context.Context) bool { return ctx.Err() != nil }

// The context of Stop is done when no job is in progress any more, however often Stop is called.
func TestStopWhileJobsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cron.New(cron.WithLocation(time.UTC))
		runs := 0
		add(t, c, "@hourly", func() { runs++; time.Sleep(90 * time.Minute) })
		require.True(t, done(c.Stop()))
		c.Start()
		pass(2*time.Hour + time.Second) // two runs overlap
		require.Equal(t, 2, runs)
		first, second := c.Stop(), c.Stop()
		pass(time.Hour)
		require.False(t, done(first))
		require.False(t, done(second))
		pass(30 * time.Minute)
		require.True(t, done(first))
		require.True(t, done(second))
		require.True(t, done(c.Stop()))
		pass(24 * time.Hour)
		require.Equal(t, 2, runs)
	})
}

// A job that stops its Cron and waits in another goroutine does not wait for ever.
func TestStopInsideAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cron.New(cron.WithLocation(time.UTC))
		stopped := make(chan context.Context, 1)
		add(t, c, "@hourly", func() {
			ctx := c.Stop()
			require.False(t, done(ctx), "the job itself is in progress")
			stopped <- ctx
		})
		c.Run() // until the job stops it
		<-(<-stopped).Done()
		require.Equal(t, 1, time.Now().UTC().Hour())
	})
}

func TestRunWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cron.New()
		c.Start()
		c.Run() // returns at once
		returned := false
		c.Stop()
		go func() { c.Run(); returned = true }()
		pass(time.Hour)
		require.False(t, returned)
		c.Stop()
		synctest.Wait()
		require.True(t, returned)
	})
}

// An entry that is removed while its job runs has no further run, and the run goes on.
func TestRemoveWhileTheJobRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cron.New(cron.WithLocation(time.UTC))
		began, ended := 0, 0
		id := add(t, c, "@hourly", func() { began++; time.Sleep(2 * time.Hour); ended++ })
		c.Start()
		pass(time.Hour)
		c.Remove(id)
		pass(10 * time.Hour)
		require.Equal(t, 1, began)
		require.Equal(t, 1, ended)
		require.True(t, done(c.Stop()))
	})
}

// A job that panics in Recover runs again, also if SkipIfStillRunning is between them, which robfig/cron forgets
// (#366).
func TestPanickingJobs(t *testing.T) {
	for name, wrappers := range map[string]func(cron.Logger) []cron.JobWrapper{
		"recover": func(l cron.Logger) []cron.JobWrapper { return []cron.JobWrapper{cron.Recover(l)} },
		"skip": func(l cron.Logger) []cron.JobWrapper {
			return []cron.JobWrapper{cron.Recover(l), cron.SkipIfStillRunning(l)}
		},
		"delay": func(l cron.Logger) []cron.JobWrapper {
			return []cron.JobWrapper{cron.Recover(l), cron.DelayIfStillRunning(l)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log logged
				c := cron.New(cron.WithChain(wrappers(&log)...))
				add(t, c, "@every 1h", func() { panic(errors.New("oh")) })
				c.Start()
				pass(5*time.Hour + time.Second)
				require.True(t, done(c.Stop()))
				require.Equal(t, 5, log.errors)
			})
		})
	}
}

// A job that ends its goroutine has ended.
func TestGoexitInAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cron.New(cron.WithChain(cron.SkipIfStillRunning(cron.DiscardLogger)))
		runs := 0
		add(t, c, "@every 1h", func() { runs++; runtime.Goexit() })
		c.Start()
		pass(3*time.Hour + time.Second)
		require.Equal(t, 3, runs)
		require.True(t, done(c.Stop()))
	})
}

// Every job takes 90 minutes.
func TestWrappersForOverlappingRuns(t *testing.T) {
	for name, c := range map[string]struct {
		wrappers []cron.JobWrapper
		most     int32
		ended    int32
	}{
		"none":  {nil, 2, 8},
		"skip":  {[]cron.JobWrapper{cron.SkipIfStillRunning(cron.DiscardLogger)}, 1, 4},
		"delay": {[]cron.JobWrapper{cron.DelayIfStillRunning(cron.DiscardLogger)}, 1, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cr := cron.New(cron.WithLocation(time.UTC), cron.WithChain(c.wrappers...))
				var running, most, ended atomic.Int32
				add(t, cr, "@hourly", func() {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(90 * time.Minute)
					running.Add(-1)
					ended.Add(1)
				})
				cr.Start()
				pass(10*time.Hour + time.Minute)
				require.Equal(t, c.most, most.Load())
				require.Equal(t, c.ended, ended.Load())
				<-cr.Stop().Done()
			})
		})
	}
}

// A Cron that waits has no goroutine, whatever the number of its entries.
func TestNoGoroutineWhileItWaits(t *testing.T) {
	before := runtime.NumGoroutine()
	c := cron.New(cron.WithLocation(time.UTC))
	c.Start()
	for range 1000 {
		add(t, c, "0 0 29 2 *", func() {})
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
	c.Stop()
}
