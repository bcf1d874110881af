package durable_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// requireThere finds that e is the timer of its key.
func requireThere(t *testing.T, w *strs, e entry, err error) {
	t.Helper()
	require.NoError(t, err)
	there, ok, err := w.Lookup(t.Context(), e.Key)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, there, e)
}

// requireAnswers finds that every operation returns the timer that it has made or found.
func requireAnswers(t *testing.T, w *strs) {
	ctx, k := t.Context(), "k"
	seen := map[durable.ID]bool{}
	anew := func(e entry, err error) {
		t.Helper()
		requireThere(t, w, e, err)
		require.False(t, seen[e.ID], "an ID comes again")
		seen[e.ID] = true
	}
	met := func(e entry, ok bool, err error) {
		t.Helper()
		anew(e, err)
		require.True(t, ok)
	}
	refused := func(e entry, ok bool, err error) {
		t.Helper()
		requireThere(t, w, e, err)
		require.False(t, ok)
		require.True(t, seen[e.ID])
	}
	at := time.Now().Add(24 * time.Hour).Round(0)
	daily, err := durable.ParseSchedule("@daily")
	require.NoError(t, err)
	anew(w.Set(ctx, k, "1", time.Hour))
	anew(w.SetAt(ctx, k, "2", at))
	refused(w.SetIfAbsent(ctx, k, "no", time.Hour))
	refused(w.SetAtIfAbsent(ctx, k, "no", at))
	refused(w.SetAtSooner(ctx, k, "no", at))
	refused(w.SetAtLater(ctx, k, "no", at))
	met(w.SetAtSooner(ctx, k, "3", at.Add(-1)))
	met(w.SetAtLater(ctx, k, "4", at))
	met(w.SetSooner(ctx, k, "5", time.Hour))
	refused(w.SetSooner(ctx, k, "no", 2*time.Hour))
	met(w.SetLater(ctx, k, "6", 2*time.Hour))
	refused(w.SetLater(ctx, k, "no", time.Hour))
	met(w.Move(ctx, k, 3*time.Hour))
	met(w.MoveAt(ctx, k, at))
	anew(w.SetSchedule(ctx, k, "7", daily))
	met(w.MoveAt(ctx, k, at))
	met(w.SetIfAbsent(ctx, "other", "8", time.Hour))
	met(w.SetAtIfAbsent(ctx, "another", "9", at))
	for _, move := range []func() (entry, bool, error){
		func() (entry, bool, error) { return w.Move(ctx, "none", time.Hour) },
		func() (entry, bool, error) { return w.MoveAt(ctx, "none", at) },
	} {
		e, ok, err := move()
		require.NoError(t, err)
		require.False(t, ok)
		require.Zero(t, e)
	}
	requireBatchAnswers(t, w, at, daily)
}

// requireBatchAnswers finds that a Batch returns the timers that its operations have made.
func requireBatchAnswers(t *testing.T, w *strs, at time.Time, s durable.Schedule) {
	require.NoError(t, errOf(w.Set(t.Context(), "b moved", "v", time.Hour)))
	require.NoError(t, errOf(w.Set(t.Context(), "b moved at", "v", time.Hour)))
	require.NoError(t, errOf(w.Set(t.Context(), "b removed", "v", time.Hour)))
	var b durable.Batch[string, string]
	b.Set("b set", "v", time.Hour)
	b.Remove("b removed")
	b.SetAt("b set at", "v", at)
	b.SetAtIfAbsent("b set at", "no", at)
	b.Move("b none", time.Hour)
	b.SetSchedule("b schedule", "v", s)
	b.Move("b moved", 2*time.Hour)
	b.SetAtLater("b later", "v", at)
	b.MoveAt("b moved at", at)
	b.SetAtSooner("b sooner", "v", at)
	require.NoError(t, w.Batch(t.Context(), &b))
	made := map[string]bool{}
	for i := range b.Len() {
		e, ok := b.Entry(i)
		if !ok {
			require.Zero(t, e)
			continue
		}
		if made[e.Key] = true; e.Key == "b moved" || e.Key == "b moved at" {
			require.Empty(t, e.Value)
			e.Value = "v"
		}
		requireThere(t, w, e, nil)
	}
	require.Equal(t, map[string]bool{"b set": true, "b set at": true, "b schedule": true, "b moved": true, "b later": true,
		"b moved at": true, "b sooner": true}, made)
	require.True(t, b.Took(1))
	require.False(t, b.Took(3))
}

func TestOperationsReturnTheirTimer(t *testing.T) {
	handle := func(context.Context, firing) error { return nil }
	requireAnswers(t, open(t, durable.Config[string, string]{Dir: t.TempDir(), Handle: handle}))
	urls, _ := natsServers(t, 1)
	owner := open(t, durable.Config[string, string]{Conn: connect(t, urls), Partitions: 2, Handle: handle})
	requireAnswers(t, open(t, durable.Config[string, string]{Conn: connect(t, urls)}))
	require.NotZero(t, owner.Stats().Set)
}

// What is there is returned as it is, also while its handler runs and while it waits for a retry.
func TestConditionsReturnWhatRuns(t *testing.T) {
	mock := clock.NewMock()
	var w *strs
	w = open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Backoff: func(int) time.Duration { return time.Hour },
		Handle: func(_ context.Context, f firing) error {
			e, ok, err := w.SetIfAbsent(context.Background(), f.Key, "no", 0)
			requireThere(t, w, e, err)
			require.False(t, ok)
			require.Equal(t, durable.StateRunning, e.State)
			require.Equal(t, f.ID, e.ID)
			return errors.New("no")
		}})
	set, err := w.Set(t.Context(), "k", "v", time.Second)
	require.NoError(t, err)
	mock.Add(time.Second)
	e, ok, err := w.SetAtIfAbsent(t.Context(), "k", "no", mock.Now())
	requireThere(t, w, e, err)
	require.False(t, ok)
	require.Equal(t, 1, e.Attempt)
	require.Equal(t, set.ID, e.ID)
}

// Of concurrent calls for one key, each returns its own timer.
func TestConcurrentSetsReturnTheirOwn(t *testing.T) {
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Handle: func(context.Context, firing) error { return nil }})
	var mu sync.Mutex
	ids := map[durable.ID]entry{}
	var calls sync.WaitGroup
	for i := range 32 {
		calls.Go(func() {
			for n := range 20 {
				v, d := fmt.Sprint(i, " ", n), time.Duration(i+1)*time.Hour
				begun := time.Now()
				e, err := w.Set(t.Context(), "k", v, d)
				if err != nil || e.Value != v || e.Due.Sub(begun).Round(time.Hour) != d {
					t.Error(v, d, e, err)
				}
				mu.Lock()
				ids[e.ID] = e
				mu.Unlock()
			}
		})
	}
	calls.Wait()
	require.Len(t, ids, 32*20)
	there, _, err := w.Lookup(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, ids[there.ID], there)
}

// A timer follows the clock of the operation that came last, also in the log.
func TestMovedTimersFollowTheirClock(t *testing.T) {
	mock := clock.NewMock()
	var fired []string
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Handle: func(_ context.Context, f firing) error { fired = append(fired, f.Key); return nil }}
	w := open(t, cfg)
	at := mock.Now().Add(3 * time.Hour)
	require.NoError(t, errOf(w.Set(t.Context(), "moved to a time", "", time.Hour)))
	_, ok, err := w.MoveAt(t.Context(), "moved to a time", at)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, errOf(w.SetAt(t.Context(), "moved by a duration", "", at)))
	_, ok, err = w.Move(t.Context(), "moved by a duration", 3*time.Hour)
	require.NoError(t, err)
	require.True(t, ok)
	var b durable.Batch[string, string]
	b.Set("moved in a batch", "", time.Hour)
	b.MoveAt("moved in a batch", at)
	require.NoError(t, w.Batch(t.Context(), &b))
	mock.Jump(2 * time.Hour)
	mock.Add(time.Hour)
	require.ElementsMatch(t, []string{"moved to a time", "moved in a batch"}, fired)
	mock.Add(2*time.Hour - 1)
	require.Len(t, fired, 2)
	mock.Add(1)
	require.Len(t, fired, 3)

	require.NoError(t, errOf(w.Set(t.Context(), "again", "", time.Hour)))
	_, _, err = w.MoveAt(t.Context(), "again", mock.Now().Add(3*time.Hour))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	open(t, cfg)
	mock.Jump(2 * time.Hour)
	mock.Add(time.Hour)
	require.Len(t, fired, 4)
}

// The same call again does not replace the timer that it has set, whatever the clocks have done since.
func TestRepeatedConditionsForATime(t *testing.T) {
	mock := clock.NewMock()
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Handle: func(context.Context, firing) error { return nil }})
	at := mock.Now().Add(time.Hour)
	for key, set := range map[string]func(context.Context, string, string, time.Time) (entry, bool, error){
		"absent": w.SetAtIfAbsent, "sooner": w.SetAtSooner, "later": w.SetAtLater,
	} {
		first, ok, err := set(t.Context(), key, "v", at)
		require.NoError(t, err)
		require.True(t, ok)
		for range 3 {
			mock.Add(time.Second)
			mock.Jump(time.Minute)
			again, ok, err := set(t.Context(), key, "v", at)
			require.NoError(t, err)
			require.False(t, ok, key)
			require.Equal(t, first, again)
			mock.Jump(-time.Minute)
		}
	}
}
