package durable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// paused is a timer with the key k on a mock clock that begins at the Unix epoch, and the attempts that were made of it.
type paused struct {
	*testing.T
	w     *strs
	mock  *clock.Mock
	cfg   durable.Config[string, string]
	runs  []string
	fails func(firing) error
}

func newPaused(t *testing.T, schedule string) *paused {
	p := &paused{T: t, mock: clock.NewMock(), fails: func(firing) error { return nil }}
	p.cfg = durable.Config[string, string]{Dir: t.TempDir(), Clock: p.mock, MaxAttempts: 3,
		Backoff: func(int) time.Duration { return 10 * time.Minute },
		Handle: func(_ context.Context, f firing) error {
			p.runs = append(p.runs, fmt.Sprintf("%s at %s, %d", f.Due.UTC().Format("15:04"), f.Value, f.Attempt))
			return p.fails(f)
		}}
	p.w = open(t, p.cfg)
	require.NoError(t, errOf(p.w.SetSchedule(t.Context(), "k", "v", parse(t, schedule))))
	return p
}

func (p *paused) pause()  { requireTook(p.T, p.w.Pause) }
func (p *paused) resume() { requireTook(p.T, p.w.Resume) }

func requireTook(t *testing.T, f func(context.Context, string) (bool, error)) {
	t.Helper()
	ok, err := f(t.Context(), "k")
	require.NoError(t, err)
	require.True(t, ok)
}

// ran finds that these attempts have been made since the last call.
func (p *paused) ran(runs ...string) {
	p.Helper()
	require.Equal(p.T, runs, p.runs)
	p.runs = nil
}

// restart ends the process and begins another, after a while.
func (p *paused) restart(d time.Duration) {
	require.NoError(p.T, p.w.Shutdown(p.Context()))
	p.mock.Add(d)
	p.w = open(p.T, p.cfg)
}

// A schedule that is paused does not run, nor make up for that: it goes on with the next run after its Resume. Whatever
// the rule for missed runs, and whether or not its process was there.
func TestPauseOfASchedule(t *testing.T) {
	for _, rule := range []string{"", "MISSED=skip ", "MISSED=all "} {
		for _, away := range []bool{false, true} {
			t.Run(fmt.Sprint(rule, away), func(t *testing.T) {
				p := newPaused(t, rule+"CRON_TZ=UTC 30 * * * *")
				p.mock.Add(time.Hour)
				p.ran("00:30 at v, 1")
				before := onlyEntry(t, p.w)
				p.pause()
				p.pause()
				e := onlyEntry(t, p.w)
				require.True(t, e.Paused)
				e.Paused = false
				require.Equal(t, before, e)
				if p.mock.Add(2 * time.Hour); away {
					p.restart(0)
				}
				p.mock.Add(time.Hour)
				p.ran()
				require.Equal(t, durable.StateWaiting, onlyEntry(t, p.w).State)
				p.resume()
				p.resume()
				e = onlyEntry(t, p.w)
				require.False(t, e.Paused)
				require.NotEqual(t, before.ID, e.ID)
				if away {
					p.restart(0)
				}
				p.mock.Add(90 * time.Minute)
				p.ran("04:30 at v, 1", "05:30 at v, 1")
			})
		}
	}
}

// The runs of an interval count from the time when they began.
func TestPauseOfAnInterval(t *testing.T) {
	p := newPaused(t, "@every 1h")
	p.mock.Add(90 * time.Minute)
	p.pause()
	p.mock.Add(3 * time.Hour) // until 04:30
	p.resume()
	require.Equal(t, 5*time.Hour, onlyEntry(t, p.w).Due.Sub(time.Unix(0, 0)))
	p.mock.Add(time.Hour)
	p.ran("01:00 at v, 1", "05:00 at v, 1")
}

// What is still to come when it is resumed is not changed: the next run, one that was moved, and the next attempt.
func TestResumeBeforeItIsDue(t *testing.T) {
	p := newPaused(t, "@every 1h")
	before := onlyEntry(t, p.w)
	p.pause()
	p.mock.Add(59 * time.Minute)
	p.resume()
	require.Equal(t, before, onlyEntry(t, p.w))
	p.pause()
	_, ok, err := p.w.Move(t.Context(), "k", 10*time.Minute) // 01:09
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, onlyEntry(t, p.w).Paused)
	p.restart(5 * time.Minute)
	p.resume()
	p.fails = func(firing) error { return errors.New("no") }
	p.mock.Add(5 * time.Minute)
	p.ran("01:09 at v, 1")
	p.pause()
	p.restart(5 * time.Minute) // 01:14
	e := onlyEntry(t, p.w)
	require.Equal(t, 1, e.Attempt)
	require.Equal(t, "no", e.LastError)
	require.Equal(t, 79*time.Minute, e.Next.Sub(time.Unix(0, 0)))
	p.resume()
	p.mock.Add(5 * time.Minute)
	p.ran("01:09 at v, 2")
}

// A run that has failed is not tried again in a pause. If that was due in it, the run is over.
func TestPauseBetweenAttempts(t *testing.T) {
	p := newPaused(t, "@every 1h")
	p.fails = func(firing) error { return errors.New("no") }
	p.mock.Add(time.Hour)
	p.ran("01:00 at v, 1")
	p.pause()
	p.mock.Add(15 * time.Minute)
	p.ran()
	require.Equal(t, 1, onlyEntry(t, p.w).Attempt)
	p.resume()
	e := onlyEntry(t, p.w)
	require.Zero(t, e.Attempt)
	require.Equal(t, "no", e.LastError)
	p.fails = func(firing) error { return nil }
	p.mock.Add(time.Hour)
	p.ran("02:00 at v, 1")
}

// An attempt that is running goes on, and its context too. Its run ends as ever, and the next one waits for Resume.
func TestPauseDuringAnAttempt(t *testing.T) {
	for name, fails := range map[string]error{"succeeds": nil, "fails": errors.New("no")} {
		for _, resumes := range []bool{false, true} {
			t.Run(fmt.Sprint(name, resumes), func(t *testing.T) {
				p := newPaused(t, "@every 1h")
				p.fails = func(f firing) error {
					requireTook(t, p.w.Pause)
					e := onlyEntry(t, p.w)
					require.Equal(t, durable.StateRunning, e.State)
					require.True(t, e.Paused)
					if resumes {
						requireTook(t, p.w.Resume)
						require.Equal(t, f.ID, onlyEntry(t, p.w).ID)
					}
					p.fails = func(firing) error { return nil }
					return fails
				}
				p.mock.Add(time.Hour)
				p.ran("01:00 at v, 1")
				p.mock.Add(2 * time.Hour)
				want := []string{"02:00 at v, 1", "03:00 at v, 1"}
				if fails != nil {
					want = append([]string{"01:00 at v, 2"}, want...)
				}
				if resumes {
					p.ran(want...)
					return
				}
				p.ran()
				p.resume()
				p.mock.Add(time.Hour)
				p.ran("04:00 at v, 1")
			})
		}
	}
}

// A schedule is set again by a program that starts, and stays paused. What is no schedule ends the pause, as Remove does.
func TestSetOfAPausedSchedule(t *testing.T) {
	p := newPaused(t, "@every 1h")
	p.pause()
	e, err := p.w.SetSchedule(t.Context(), "k", "w", parse(t, "@every 30m"))
	requireThere(t, p.w, e, err)
	require.True(t, e.Paused)
	require.Equal(t, "w", e.Value)
	p.mock.Add(time.Hour)
	p.ran()
	p.resume()
	p.mock.Add(time.Hour)
	p.ran("01:30 at w, 1", "02:00 at w, 1")
	p.pause()
	require.NoError(t, errOf(p.w.Set(t.Context(), "k", "x", time.Minute)))
	require.False(t, onlyEntry(t, p.w).Paused)
	p.mock.Add(time.Minute)
	p.ran("02:01 at x, 1")
	var b durable.Batch[string, string]
	b.SetSchedule("k", "y", parse(t, "@every 1h"))
	b.Pause("k")
	b.Remove("k")
	b.SetSchedule("k", "z", parse(t, "@every 1h"))
	require.NoError(t, p.w.Batch(t.Context(), &b))
	require.False(t, onlyEntry(t, p.w).Paused)
}

// Operations in one frame see each other.
func TestPausesInABatch(t *testing.T) {
	p := newPaused(t, "@every 1h")
	var b durable.Batch[string, string]
	b.Pause("k")
	b.SetSchedule("k", "w", parse(t, "@every 1h"))
	b.Pause("none")
	b.Set("once", "v", 24*time.Hour)
	b.Pause("once")
	b.Resume("once")
	require.NoError(t, p.w.Batch(t.Context(), &b))
	for i, took := range []bool{true, true, false, true, false, false} {
		require.Equal(t, took, b.Took(i), i)
		_, set := b.Entry(i)
		require.Equal(t, i == 1 || i == 3, set, i)
	}
	p.mock.Add(90 * time.Minute)
	p.ran()
	b.Reset()
	b.Resume("k")
	b.Pause("k")
	b.Resume("k")
	require.NoError(t, p.w.Batch(t.Context(), &b))
	p.mock.Add(30 * time.Minute)
	p.ran("02:00 at w, 1")
}

// Without a further run there is nothing to resume.
func TestResumeAfterTheEnd(t *testing.T) {
	p := newPaused(t, "UNTIL=1970-01-01T02:30:00Z CRON_TZ=UTC 0 * * * *")
	p.mock.Add(time.Hour)
	p.pause()
	p.mock.Add(time.Hour)
	p.resume()

	p.restart(0)
	_, ok, err := p.w.Lookup(t.Context(), "k")
	require.NoError(t, err)
	require.False(t, ok)
	p.ran("01:00 at v, 1")
}

// Only a timer with a schedule that is not dead is paused.
func TestNothingToPause(t *testing.T) {
	p := newPaused(t, "@every 1h")
	require.NoError(t, errOf(p.w.Set(t.Context(), "once", "v", time.Hour)))
	for _, k := range []string{"once", "none"} {
		for _, f := range []func(context.Context, string) (bool, error){p.w.Pause, p.w.Resume} {
			ok, err := f(t.Context(), k)
			require.NoError(t, err)
			require.False(t, ok)
		}
	}
}

// A paused timer is paused in another log, too.
func TestExportOfAPausedTimer(t *testing.T) {
	p := newPaused(t, "@every 1h")
	p.fails = func(firing) error { return errors.New("no") }
	p.mock.Add(time.Hour)
	p.pause()
	var b bytes.Buffer
	err := p.w.Export(t.Context(), &b)
	require.NoError(t, err)
	cfg := p.cfg
	cfg.Dir = t.TempDir()
	other := open(t, cfg)
	_, err = other.Import(t.Context(), bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	require.Equal(t, onlyEntry(t, p.w), onlyEntry(t, other))
	require.True(t, onlyEntry(t, other).Paused)
	p.runs = nil
	p.mock.Add(time.Hour)
	p.ran()
	requireTook(t, other.Resume)
	p.mock.Add(time.Hour)
	p.ran("03:00 at v, 1")
	_, err = other.Import(t.Context(), bytes.NewReader(bytes.ReplaceAll(b.Bytes(), []byte(`"schedule"`), []byte(`"other"`))))
	require.ErrorIs(t, err, durable.ErrArgument)
}

// A pause goes on when its partition has another owner, whoever calls.
func TestPauseSurvivesAChangeOfOwner(t *testing.T) {
	urls, _ := natsServers(t, 1)
	a := openShared(t, connect(t, urls), new(record), time.Second)
	outside := caller(t, urls)
	const n = 12
	for i := range n {
		k := fmt.Sprint(i)
		require.NoError(t, errOf(outside.SetSchedule(t.Context(), k, "a", parse(t, "@every 1h"))))
		ok, err := outside.Pause(t.Context(), k)
		require.NoError(t, err)
		require.True(t, ok)
	}
	b := openShared(t, connect(t, urls), new(record), time.Second)
	require.NoError(t, a.Shutdown(t.Context()))
	for i := range n {
		by, k := []*strs{outside, b}[i%2], fmt.Sprint(i)
		e, ok, err := by.Lookup(t.Context(), k)
		require.NoError(t, err)
		require.True(t, ok && e.Paused)
		ok, err = by.Resume(t.Context(), k)
		require.NoError(t, err)
		require.True(t, ok)
		e, _, err = by.Lookup(t.Context(), k)
		require.NoError(t, err)
		require.False(t, e.Paused)
	}
}
