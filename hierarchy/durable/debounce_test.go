package durable_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// debounced is timers on a mock clock that begins at the Unix epoch, and what they have fired.
type debounced struct {
	*testing.T
	w     *strs
	mock  *clock.Mock
	cfg   durable.Config[string, string]
	fired []string
	fails func(firing) error
}

func newDebounced(t *testing.T) *debounced {
	d := &debounced{T: t, mock: clock.NewMock(), fails: func(firing) error { return nil }}
	d.cfg = durable.Config[string, string]{Dir: t.TempDir(), Clock: d.mock, MaxAttempts: 2,
		Backoff: func(int) time.Duration { return 10 * time.Second },
		Handle: func(_ context.Context, f firing) error {
			d.fired = append(d.fired, fmt.Sprint(f.Value, " at ", d.mock.Elapsed()))
			return d.fails(f)
		}}
	d.w = open(t, d.cfg)
	return d
}

// call makes a debounced call, and returns when the timer is due after it.
func (d *debounced) call(v string, quiet, longest time.Duration) time.Duration {
	e, err := d.w.SetDebounced(d.Context(), "k", v, quiet, longest)
	require.NoError(d, err)
	require.Equal(d, entry{Key: "k", Value: v, Due: e.Due, ID: e.ID}, e)
	require.Equal(d, e, onlyEntry(d.T, d.w))
	return e.Due.Sub(time.Unix(0, 0))
}

const s = time.Second

// Each call moves the timer to quiet from now, but not beyond longest after the first. The last value counts.
func TestSetDebounced(t *testing.T) {
	d := newDebounced(t)
	require.Equal(t, 5*s, d.call("a", 5*s, 12*s))
	d.mock.Add(4 * s)
	require.Equal(t, 9*s, d.call("b", 5*s, 12*s))
	d.mock.Add(4 * s)
	require.Equal(t, 12*s, d.call("c", 5*s, 12*s))
	d.mock.Add(4*s - 1)
	require.Equal(t, 12*s, d.call("d", 5*s, 12*s))
	require.Empty(t, d.fired)
	d.mock.Add(1)
	require.Equal(t, []string{"d at 12s"}, d.fired)

	require.Equal(t, 17*s, d.call("e", 5*s, 12*s), "another run")
	d.mock.Add(time.Minute)
	require.Equal(t, []string{"d at 12s", "e at 17s"}, d.fired)
}

// A longest that is shorter than quiet gathers what comes in a time. Each call counts by its own durations, and one
// that is late is due at once.
func TestDebouncedDurations(t *testing.T) {
	d := newDebounced(t)
	require.Equal(t, 3*s, d.call("a", time.Hour, 3*s))
	d.mock.Add(2 * s)
	require.Equal(t, 3*s, d.call("b", time.Hour, 3*s))
	require.Equal(t, 10*s, d.call("c", time.Hour, 10*s))
	require.Equal(t, 2*s, d.call("d", 0, 10*s))
	require.Equal(t, 4*s, d.call("e", 2*s, 10*s))
	require.Equal(t, s, d.call("f", 2*s, s))
	d.mock.Add(0)
	require.Equal(t, []string{"f at 2s"}, d.fired)
	require.Equal(t, time.Duration(1<<63-1), d.call("g", 1<<63-1, 1<<63-1))

	for _, bad := range [][2]time.Duration{{-1, s}, {s, 0}, {s, -1}} {
		_, err := d.w.SetDebounced(t.Context(), "k", "v", bad[0], bad[1])
		require.ErrorIs(t, err, durable.ErrArgument)
		var b durable.Batch[string, string]
		b.SetDebounced("k", "v", bad[0], bad[1])
		require.ErrorIs(t, d.w.Batch(t.Context(), &b), durable.ErrArgument)
	}
}

// The run is in the log.
func TestDebouncedRunSurvivesARestart(t *testing.T) {
	d := newDebounced(t)
	d.call("a", 5*s, 12*s)
	d.mock.Add(4 * s)
	require.NoError(t, d.w.Shutdown(t.Context()))
	d.w = open(t, d.cfg)
	require.Equal(t, 12*s, d.call("b", time.Minute, 12*s))
	d.mock.Add(time.Minute)
	require.Equal(t, []string{"b at 12s"}, d.fired)
}

// A run ends when its timer's handler is called, whatever comes of that, and when the timer is moved or set otherwise.
// Then, and after timers of other kinds, the next call is the first.
func TestDebouncedRunEnds(t *testing.T) {
	no, none := errors.New("no"), errors.New("no attempt")
	for name, end := range map[string]struct {
		attempt error // none, or what the handler returns
		do      func(d *debounced)
	}{
		"an attempt":        {nil, func(d *debounced) { require.Len(d, d.fired, 1) }},
		"a failed attempt":  {no, func(d *debounced) { require.Equal(d, 1, onlyEntry(d.T, d.w).Attempt) }},
		"a death":           {durable.Permanent(no), func(d *debounced) { require.Equal(d, 1, d.w.Stats().Dead) }},
		"a failure, a Move": {no, func(d *debounced) { require.NoError(d, errOf2(d.w.Move(d.Context(), "k", time.Hour))) }},
		"a death, a Revive": {durable.Permanent(no), func(d *debounced) {
			ok, err := d.w.Revive(d.Context(), "k")
			require.NoError(d, err)
			require.True(d, ok)
		}},
		"Move":     {none, func(d *debounced) { require.NoError(d, errOf2(d.w.Move(d.Context(), "k", time.Hour))) }},
		"MoveAt":   {none, func(d *debounced) { require.NoError(d, errOf2(d.w.MoveAt(d.Context(), "k", d.mock.Now()))) }},
		"Remove":   {none, func(d *debounced) { require.NoError(d, errOf2(d.w.Remove(d.Context(), "k"))) }},
		"Set":      {none, func(d *debounced) { require.NoError(d, errOf(d.w.Set(d.Context(), "k", "", time.Hour))) }},
		"SetAt":    {none, func(d *debounced) { require.NoError(d, errOf(d.w.SetAt(d.Context(), "k", "", d.mock.Now()))) }},
		"SetLater": {none, func(d *debounced) { require.NoError(d, errOf2(d.w.SetLater(d.Context(), "k", "", time.Hour))) }},
		"SetSchedule": {none, func(d *debounced) {
			require.NoError(d, errOf(d.w.SetSchedule(d.Context(), "k", "", parse(d.T, "@every 90m"))))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDebounced(t)
			d.call("a", 5*s, 5*s)
			d.mock.Add(5*s - 1)
			if end.attempt != none {
				d.fails = func(firing) error { return end.attempt }
				d.mock.Add(1)
			}
			now := d.mock.Elapsed()
			end.do(d)
			for _, restart := range []bool{false, true} {
				if restart {
					require.NoError(t, d.w.Shutdown(t.Context()))
					d.w = open(t, d.cfg)
					now = d.mock.Elapsed()
				}
				require.Equal(t, now+4*s, d.call("b", 4*s, time.Minute))
				d.mock.Add(3 * s)
				require.Equal(t, now+7*s, d.call("c", 4*s, time.Minute), "the run goes on")
				require.Equal(t, now+5*s, d.call("c", 4*s, 5*s))
				require.NoError(t, errOf2(d.w.Remove(t.Context(), "k")))
				d.fired = nil
			}
		})
	}
}

// A call during an attempt begins a run, whether the handler itself makes it or another does. A run does not end with an attempt that
// does not count.
func TestDebouncedCallDuringAnAttempt(t *testing.T) {
	for _, own := range []bool{false, true} {
		d := newDebounced(t)
		var due time.Time
		d.cfg.Handle = func(ctx context.Context, f firing) error {
			if f.Value != "a" {
				return nil
			}
			if !own {
				ctx = t.Context()
			}
			e, err := d.w.SetDebounced(ctx, "k", "b", time.Minute, 62*s)
			due = e.Due
			return err
		}
		require.NoError(t, d.w.Close())
		d.w = open(t, d.cfg)
		d.call("a", 5*s, 60*s)
		d.mock.Add(5 * s)
		require.True(t, due.Equal(d.mock.Now().Add(time.Minute)))
		require.Equal(t, due, onlyEntry(t, d.w).Due)
	}
}

func TestDebouncedPostponedAttempt(t *testing.T) {
	d := newDebounced(t)
	d.fails = func(firing) error { return durable.Postpone(time.Hour, errors.New("not now")) }
	d.call("a", 5*s, 30*s)
	d.mock.Add(5 * s)
	require.Len(t, d.fired, 1)
	d.fails = func(firing) error { return nil }
	require.Equal(t, 30*s, d.call("b", time.Hour, 30*s))
}

// Calls of one Batch follow each other, as those of several do.
func TestDebouncedInABatch(t *testing.T) {
	d := newDebounced(t)
	var b durable.Batch[string, string]
	b.SetDebounced("k", "a", 5*s, 12*s)
	b.SetDebounced("k", "b", 20*s, 12*s)
	b.Set("other", "", time.Hour)
	require.NoError(t, d.w.Batch(t.Context(), &b))
	for i, due := range []time.Duration{5 * s, 12 * s, time.Hour} {
		e, ok := b.Entry(i)
		require.True(t, ok)
		require.Equal(t, due, e.Due.Sub(time.Unix(0, 0)))
	}
	d.mock.Add(4 * s)
	b.Reset()
	b.SetDebounced("k", "c", 20*s, 12*s)
	require.NoError(t, d.w.Batch(t.Context(), &b))
	d.mock.Add(time.Minute)
	require.Equal(t, []string{"c at 12s"}, d.fired)
}

// A run goes on when its partition has another owner, whoever calls.
func TestDebouncedRunSurvivesAChangeOfOwner(t *testing.T) {
	urls, _ := natsServers(t, 1)
	a := openShared(t, connect(t, urls), new(record), time.Second)
	outside := caller(t, urls)
	const n = 20
	first := make([]entry, n)
	var err error
	for i := range first {
		first[i], err = outside.SetDebounced(t.Context(), fmt.Sprint(i), "a", time.Hour, 90*time.Minute)
		require.NoError(t, err)
	}
	b := openShared(t, connect(t, urls), new(record), time.Second)
	require.NoError(t, a.Shutdown(t.Context()))
	for i := range first {
		by := []*strs{outside, b}[i%2]
		second, err := by.SetDebounced(t.Context(), fmt.Sprint(i), "b", 2*time.Hour, 90*time.Minute)
		require.NoError(t, err)
		require.Equal(t, first[i].Due.Add(30*time.Minute), second.Due)
		e, ok, err := by.Lookup(t.Context(), fmt.Sprint(i))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, second, e)
	}
}
