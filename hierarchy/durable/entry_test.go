package durable_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

type entry = durable.Entry[string, string]

// onlyEntry returns the only timer that is not dead.
func onlyEntry(t *testing.T, w *strs) (only entry) {
	n := 0
	for e, err := range w.All(t.Context()) {
		require.NoError(t, err)
		only = e
		n++
	}
	require.Equal(t, 1, n)
	return only
}

// The ID of an entry is that of its firings. Its Attempt counts those that have begun, also the one that runs. It says why
// the last one that has failed did so, and when the next one is due.
func TestEntriesHaveIDAndAttempt(t *testing.T) {
	mock := clock.NewMock()
	var last firing
	var during entry
	var w *strs
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, MaxAttempts: 3,
		Backoff: func(int) time.Duration { return time.Minute },
		Handle: func(_ context.Context, f firing) error {
			last, during = f, onlyEntry(t, w)
			return errors.New("not yet")
		}}
	w = open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Second)))
	e := onlyEntry(t, w)
	require.Equal(t, entry{Key: "k", Value: "v", Due: time.Unix(1, 0), ID: e.ID}, e)
	require.NotZero(t, e.ID)
	for attempt := 1; attempt < 3; attempt++ {
		mock.Add(time.Minute)
		e.Attempt, e.State, e.Next = attempt, durable.StateRunning, time.Time{}
		require.Equal(t, e, during)
		failed := time.Unix(1, 0).Add(time.Duration(attempt-1) * time.Minute)
		e.State, e.LastError, e.LastFailed, e.Next = durable.StateWaiting, "not yet", failed, failed.Add(time.Minute)
		require.Equal(t, e, onlyEntry(t, w))
		require.Equal(t, attempt, last.Attempt)
		require.Equal(t, e.ID, last.ID)
	}
	require.NoError(t, w.Close())
	w = open(t, cfg)
	require.Equal(t, e, onlyEntry(t, w))
	_, moved, err := w.Move(t.Context(), "k", time.Hour)
	require.NoError(t, err)
	require.True(t, moved)
	e2 := onlyEntry(t, w)
	require.NotEqual(t, e.ID, e2.ID)
	require.Equal(t, entry{Key: "k", Value: "v", Due: e2.Due, ID: e2.ID}, e2)
}

// onlyDead returns the only timer that is dead.
func onlyDead(t *testing.T, w *strs) (only firing) {
	n := 0
	for f, err := range w.Dead(t.Context()) {
		require.NoError(t, err)
		only = f
		n++
	}
	require.Equal(t, 1, n)
	return only
}

// The firings of Dead are those of the last attempts. Their Epoch rises as the partition's does.
func TestDeadFiringsHaveTheirEpoch(t *testing.T) {
	mock := clock.NewMock()
	var last firing
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, MaxAttempts: 1,
		Handle: func(_ context.Context, f firing) error { last = f; return errors.New("no") }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Second)))
	mock.Add(time.Second)
	require.NotZero(t, last.Epoch)
	last.LastError, last.Died = "no", time.Unix(1, 0)
	require.Equal(t, last, onlyDead(t, w))
	require.NoError(t, w.Close())
	w = open(t, cfg)
	listed := onlyDead(t, w)
	require.Greater(t, listed.Epoch, last.Epoch)
	e, revived, err := w.ReviveEntry(t.Context(), "k")
	requireThere(t, w, e, err)
	require.Equal(t, last.ID, e.ID)
	require.True(t, revived)
	mock.Add(0)
	require.Equal(t, listed.Epoch, last.Epoch)
}

// A process that owns no partition sees the same as the owner.
func TestEntriesOfAnotherProcess(t *testing.T) {
	urls, _ := natsServers(t, 1)
	cfg := durable.Config[string, string]{Conn: connect(t, urls), Partitions: 1, MaxAttempts: 1, Lease: time.Minute,
		Handle: func(context.Context, firing) error { return errors.New("no") }}
	a := open(t, cfg)
	cfg.Conn = connect(t, urls)
	b := open(t, cfg)
	require.NoError(t, errOf(a.Set(t.Context(), "dead", "1", 0)))
	require.NoError(t, errOf(a.Set(t.Context(), "waits", "2", time.Hour)))
	require.Eventually(t, func() bool { return a.Stats().Dead+b.Stats().Dead == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, onlyEntry(t, a), onlyEntry(t, b))
	dead := onlyDead(t, a)
	for begun := time.Now(); dead != onlyDead(t, b) && time.Since(begun) < time.Minute; { // the partition has changed hands
		dead = onlyDead(t, a)
	}
	require.Equal(t, dead, onlyDead(t, b))
	require.NotZero(t, dead.Epoch)
	require.Equal(t, 1, dead.Attempt)
}

// A Batch revives what is dead, and nothing else.
func TestBatchRevives(t *testing.T) {
	mock := clock.NewMock()
	broken := true
	var fired []string
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, MaxAttempts: 1,
		Handle: func(_ context.Context, f firing) error {
			if broken {
				return errors.New("no")
			}
			fired = append(fired, f.Key+f.Value)
			return nil
		}})
	for _, k := range []string{"a", "b", "c"} {
		require.NoError(t, errOf(w.Set(t.Context(), k, "1", time.Second)))
	}
	mock.Add(time.Second)
	require.Equal(t, 3, w.Stats().Dead)
	require.NoError(t, errOf(w.Set(t.Context(), "d", "1", time.Hour)))
	broken = false
	var b durable.Batch[string, string]
	b.Revive("a")
	b.Set("b", "2", time.Minute)
	b.Revive("b") // it is not dead any more
	b.Revive("d")
	b.Revive("none")
	b.Revive("c")
	b.Revive("c") // it has been
	require.NoError(t, w.Batch(t.Context(), &b))
	var took []bool
	for i := range b.Len() {
		took = append(took, b.Took(i))
	}
	require.Equal(t, []bool{true, true, false, false, false, true, false}, took)
	mock.Add(0)
	require.ElementsMatch(t, []string{"a1", "c1"}, fired)
	require.Zero(t, w.Stats().Dead)
	mock.Add(time.Minute)
	require.Contains(t, fired, "b2")
}

// errOf is the error of a call that returns something else, too.
func errOf[T any](_ T, err error) error { return err }

func errOf2[T any](_ T, _ bool, err error) error { return err }
