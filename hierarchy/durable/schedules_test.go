package durable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A Schedule serves wherever one of package hierarchy does.
var _ hierarchy.Schedule = durable.Schedule{}

func parse(t *testing.T, text string) durable.Schedule {
	s, err := durable.ParseSchedule(text)
	require.NoError(t, err)
	return s
}

// A timer with a schedule runs at its times, says what it missed, and is one timer.
func TestSetSchedule(t *testing.T) {
	mock := clock.NewMock()
	var runs []string
	ids := make(map[durable.ID]bool)
	daily := parse(t, "CRON_TZ=Europe/Berlin 30 2 * * *")
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, Handle: func(_ context.Context, f firing) error {
		runs = append(runs, fmt.Sprint(f.Key, " ", f.Value, " ", f.Due.UTC().Format("Jan 2 15:04"), " ", f.Missed))
		require.Equal(t, daily, f.Schedule)
		require.Equal(t, 1, f.Attempt)
		require.False(t, ids[f.ID])
		ids[f.ID] = true
		return nil
	}}
	w := open(t, cfg)
	require.NoError(t, errOf(w.SetSchedule(t.Context(), "k", "v", daily)))
	e := onlyEntry(t, w)
	require.Equal(t, entry{Key: "k", Value: "v", Due: e.Due, ID: e.ID, Schedule: daily}, e)
	require.Equal(t, time.Date(1970, 1, 1, 1, 30, 0, 0, time.UTC), e.Due.UTC())
	mock.Add(48 * time.Hour)
	require.NoError(t, w.Shutdown(t.Context()))
	mock.Add(72 * time.Hour)
	w = open(t, cfg)
	mock.Add(24 * time.Hour)
	require.Equal(t, []string{"k v Jan 1 01:30 0", "k v Jan 2 01:30 0", "k v Jan 5 01:30 2", "k v Jan 6 01:30 0"}, runs)
	removed, ok, err := w.RemoveEntry(t.Context(), "k")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, daily, removed.Schedule)
	mock.Add(48 * time.Hour)
	require.Len(t, runs, 4)
}

// In a Batch, too. Set ends a schedule, and a Batch with one that can't be used does nothing.
func TestSchedulesInABatch(t *testing.T) {
	mock := clock.NewMock()
	fired := make(map[string]int)
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, Handle: func(_ context.Context, f firing) error {
		fired[f.Key]++
		return nil
	}})
	var b durable.Batch[string, string]
	minute := parse(t, "@every 1m").OnMissed(durable.MissedAll)
	for _, k := range []string{"a", "b", "c"} {
		b.SetSchedule(k, "v", minute)
	}
	b.Set("b", "v", time.Second)
	require.NoError(t, w.Batch(t.Context(), &b))
	require.True(t, b.Took(0))
	mock.Add(5 * time.Minute)
	require.Equal(t, map[string]int{"a": 5, "b": 1, "c": 5}, fired)
	b.Reset()
	b.Remove("a")
	b.SetSchedule("c", "v", durable.Schedule{})
	require.ErrorIs(t, w.Batch(t.Context(), &b), durable.ErrArgument)
	n, err := w.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestSchedulesThatAreNone(t *testing.T) {
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Handle: func(context.Context, firing) error { return nil }})
	require.ErrorIs(t, errOf(w.SetSchedule(t.Context(), "k", "v", durable.Schedule{})), durable.ErrArgument)
	require.ErrorIs(t, errOf(w.SetSchedule(t.Context(), "k", "v", parse(t, "0 0 30 2 *"))), durable.ErrArgument)
	long := parse(t, strings.Repeat("1,", 500)+"1 * * * *").OnMissed(durable.MissedSkip)
	require.NoError(t, errOf(w.SetSchedule(t.Context(), "k", "v", long)))
	_, _, err := w.Remove(t.Context(), "k")
	require.NoError(t, err)
	long = parse(t, strings.Repeat("1,", 507)+"1 * * * *").OnMissed(durable.MissedSkip)
	require.ErrorIs(t, errOf(w.SetSchedule(t.Context(), "k", "v", long)), durable.ErrTooLarge)
	_, err = durable.ParseSchedule("at noon")
	require.ErrorIs(t, err, durable.ErrArgument)
	n, err := w.Len(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
}

// Dead has what timers died of, and when. They go after KeepDead, and OnDead is called once for each, and for the runs
// of schedules that failed for good, which go on.
func TestDeadTimers(t *testing.T) {
	mock := clock.NewMock()
	var told []string
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, MaxAttempts: 2, KeepDead: time.Hour,
		Backoff: func(int) time.Duration { return time.Minute },
		Handle: func(_ context.Context, f firing) error {
			return fmt.Errorf("%s fails", f.Key)
		},
		OnDead: func(f firing, last error) { told = append(told, fmt.Sprint(f.Key, " ", f.Attempt, " ", last)) },
	}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Second)))
	mock.Add(2 * time.Minute)
	f := onlyDead(t, w)
	require.Equal(t, "k fails", f.LastError)
	require.Equal(t, time.Unix(61, 0), f.Died)
	require.Equal(t, []string{"k 2 k fails"}, told)
	require.NoError(t, errOf(w.SetSchedule(t.Context(), "s", "v", parse(t, "@every 30m"))))
	require.Equal(t, uint64(1), w.Stats().Died)
	require.NoError(t, w.Close())
	w = open(t, cfg)
	mock.Add(time.Hour)
	require.Equal(t, []string{"k 2 k fails", "s 2 s fails"}, told)
	require.Equal(t, uint64(1), w.Stats().Died)
	require.Equal(t, uint64(1), w.Stats().Expired)
	require.Zero(t, w.Stats().Dead)
	require.Equal(t, "s", onlyEntry(t, w).Key)
}

// tracer puts a text into the log beside each timer, and records what it is given.
type tracer struct {
	next    string
	begun   []durable.TracedAttempt
	traces  []string
	results []error
}

type traceKey struct{}

func (tr *tracer) Inject(context.Context) []byte { return []byte(tr.next) }

func (tr *tracer) Start(ctx context.Context, trace []byte, a durable.TracedAttempt) (context.Context, func(error)) {
	tr.begun, tr.traces = append(tr.begun, a), append(tr.traces, string(trace))
	return context.WithValue(ctx, traceKey{}, string(trace)), func(err error) { tr.results = append(tr.results, err) }
}

// The trace context of a Set comes to all attempts, whoever makes them.
func TestTraces(t *testing.T) {
	mock := clock.NewMock()
	tr := &tracer{}
	bad := errors.New("bad")
	var w *strs
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, Trace: tr, Name: "traced",
		Backoff: func(int) time.Duration { return time.Minute },
		Handle: func(ctx context.Context, f firing) error {
			require.Equal(t, tr.traces[len(tr.traces)-1], ctx.Value(traceKey{}))
			switch {
			case f.Key == "panics":
				require.NoError(t, errOf(w.Set(ctx, "panics", "v", time.Hour)))
				require.NoError(t, ctx.Err()) // the call is this attempt's
				panic("no")
			case f.Attempt == 1:
				return bad
			}
			return nil
		}}
	w = open(t, cfg)
	tr.next = strings.Repeat("x", durable.MaxTrace)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Second)))
	e := onlyEntry(t, w)
	mock.Add(time.Second)
	require.NoError(t, w.Close())
	w = open(t, cfg)
	mock.Add(time.Minute)
	require.Equal(t, []string{tr.next, tr.next}, tr.traces)
	require.Equal(t, []error{bad, nil}, tr.results)
	require.Equal(t, durable.TracedAttempt{Name: "traced", Key: []byte("k"), Due: time.Unix(1, 0), Attempt: 1, ID: e.ID,
		Epoch: tr.begun[0].Epoch}, tr.begun[0])
	require.Equal(t, 2, tr.begun[1].Attempt)
	tr.next += "x" // too long
	require.NoError(t, errOf(w.SetAt(t.Context(), "panics", "v", mock.Now())))
	mock.Add(0)
	require.Empty(t, tr.traces[2])
	require.ErrorContains(t, tr.results[2], "did not return")
	tr.next = ""
	hourly := parse(t, "0 * * * *")
	require.NoError(t, errOf(w.SetSchedule(t.Context(), "panics", "v", hourly)))
	tr.next = "replaced"
	require.NoError(t, errOf(w.SetSchedule(t.Context(), "panics", "v", hourly)))
	mock.Add(time.Hour)
	require.Equal(t, "replaced", tr.traces[3])
	require.Equal(t, hourly.String(), tr.begun[3].Schedule)
}

// A process sets schedules in partitions that others own, with the trace context of its call.
func TestSchedulesOfAnotherProcess(t *testing.T) {
	urls, _ := natsServers(t, 1)
	cfg := durable.Config[string, string]{Conn: connect(t, urls), Partitions: 4, Trace: &tracer{next: "trace"},
		Handle: func(context.Context, firing) error { return nil }}
	a := open(t, cfg)
	cfg.Conn = connect(t, urls)
	b := open(t, cfg)
	yearly := parse(t, "CRON_TZ=Asia/Tokyo 0 0 1 1 *").OnMissed(durable.MissedAll)
	for i := range 8 {
		require.NoError(t, errOf(a.SetSchedule(t.Context(), fmt.Sprint("a", i), "v", yearly)))
		require.NoError(t, errOf(b.SetSchedule(t.Context(), fmt.Sprint("b", i), "v", yearly)))
	}
	for _, w := range []*strs{a, b} {
		n := 0
		for e, err := range w.All(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, yearly, e.Schedule)
			require.True(t, e.Due.Equal(yearly.Next(time.Now())))
			n++
		}
		require.Equal(t, 16, n)
		e, ok, err := w.RemoveEntry(t.Context(), "a0")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, yearly, e.Schedule)
		require.NoError(t, errOf(w.SetSchedule(t.Context(), "a0", "v", yearly)))
	}
}
