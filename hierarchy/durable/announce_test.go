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

// announcing returns timers whose firings are appended to a slice.
func announcing(t *testing.T, dir string, mock *clock.Mock, firings *[]durable.Firing[string, string]) *durable.Keyed[string, string] {
	w, err := durable.Open(t.Context(), durable.Config[string, string]{
		Dir: dir, Clock: mock, MaxAttempts: 3,
		Backoff:  func(attempt int) time.Duration { return time.Duration(attempt) * time.Minute },
		Announce: func(f durable.Firing[string, string]) { *firings = append(*firings, f) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

func TestAnnounce(t *testing.T) {
	var firings []durable.Firing[string, string]
	mock := clock.NewMock()
	w := announcing(t, t.TempDir(), mock, &firings)
	for i := range 3 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "v", time.Duration(i+1)*time.Second)))
	}
	mock.Add(time.Minute)
	require.Len(t, firings, 3)
	for i, f := range firings {
		require.Equal(t, []any{fmt.Sprint(i), "v", 1}, []any{f.Key, f.Value, f.Attempt})
		require.True(t, w.Waits(f.Key, f.ID))
	}
	mock.Add(time.Hour)
	require.Len(t, firings, 3, "each was announced once")
	n, err := w.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, n)

	a, ok := w.Begin("1", firings[1].ID)
	require.True(t, ok)
	require.Equal(t, firings[1], a.Firing)
	require.False(t, w.Waits("1", firings[1].ID))
	_, ok = w.Begin("1", firings[1].ID)
	require.False(t, ok, "it has an attempt")
	_, ok = w.Begin("0", firings[1].ID)
	require.False(t, ok, "the ID is another's")
	require.Equal(t, 1, w.Stats().Running)
	ended, err := a.End(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, ended)
	require.Error(t, a.Context().Err())
	_, ok = w.Begin("1", firings[1].ID)
	require.False(t, ok, "it has ended")
	n, err = w.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

// What others do with a timer that was announced, or that has an attempt, is committed.
func TestAnnouncedAndChanged(t *testing.T) {
	var firings []durable.Firing[string, string]
	mock := clock.NewMock()
	w := announcing(t, t.TempDir(), mock, &firings)
	for _, k := range []string{"removed", "moved", "set", "removed while it runs"} {
		require.NoError(t, errOf(w.Set(t.Context(), k, "v", time.Second)))
	}
	mock.Add(time.Second)
	require.Len(t, firings, 4)
	_, ok, err := w.Remove(t.Context(), "removed")
	require.NoError(t, err)
	require.True(t, ok)
	_, _, err = w.Move(t.Context(), "moved", time.Second)
	require.NoError(t, err)
	require.NoError(t, errOf(w.Set(t.Context(), "set", "w", time.Second)))
	a, ok := w.Begin("removed while it runs", firings[3].ID)
	require.True(t, ok)
	_, _, err = w.Remove(t.Context(), "removed while it runs")
	require.NoError(t, err)
	require.Error(t, a.Context().Err())
	ended, err := a.End(t.Context(), errors.New("bad"))
	require.NoError(t, err)
	require.False(t, ended)
	for _, f := range firings {
		require.False(t, w.Waits(f.Key, f.ID), f.Key)
		_, ok := w.Begin(f.Key, f.ID)
		require.False(t, ok, f.Key)
	}
	mock.Add(time.Second)
	require.Len(t, firings, 6)
	require.Equal(t, []string{"v", "w"}, []string{firings[4].Value, firings[5].Value})
}

// An attempt that has failed is followed by another one, after Backoff or after RetryAfter, or by none after Permanent.
func TestAnnouncedFails(t *testing.T) {
	var firings []durable.Firing[string, string]
	mock := clock.NewMock()
	w := announcing(t, t.TempDir(), mock, &firings)
	fail := func(err error) {
		t.Helper()
		last := firings[len(firings)-1]
		a, ok := w.Begin(last.Key, last.ID)
		require.True(t, ok)
		ended, err := a.End(t.Context(), err)
		require.NoError(t, err)
		require.True(t, ended)
	}
	bad := errors.New("bad")
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Second)))
	mock.Add(time.Second)
	fail(bad)
	mock.Add(time.Minute - 1)
	require.Len(t, firings, 1)
	mock.Add(1)
	require.Len(t, firings, 2)
	require.Equal(t, 2, firings[1].Attempt)
	fail(fmt.Errorf("as it says: %w", durable.RetryAfter(time.Hour, bad)))
	mock.Add(time.Hour - 1)
	require.Len(t, firings, 2)
	mock.Add(1)
	require.Len(t, firings, 3)
	require.Equal(t, firings[0].ID, firings[2].ID)
	fail(durable.RetryAfter(time.Second, bad))
	require.Equal(t, 1, w.Stats().Dead, "the last attempt has failed")

	require.NoError(t, errOf(w.Set(t.Context(), "gone", "v", 0)))
	mock.Add(time.Second)
	fail(fmt.Errorf("no: %w", durable.Permanent(bad)))
	require.Equal(t, 2, w.Stats().Dead)
	require.ErrorIs(t, durable.Permanent(bad), bad)
	require.ErrorIs(t, durable.RetryAfter(1, bad), bad)
	require.Equal(t, "bad", durable.Permanent(bad).Error())
	require.Equal(t, "bad", durable.RetryAfter(1, bad).Error())
}

// What did not fail has not failed, whatever wraps it.
func TestNothingHasFailed(t *testing.T) {
	require.NoError(t, durable.Permanent(nil))
	require.NoError(t, durable.RetryAfter(time.Hour, nil))
	mock := clock.NewMock()
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Handle: func(_ context.Context, f firing) error {
			if f.Key == "permanent" {
				return durable.Permanent(nil)
			}
			return durable.RetryAfter(0, nil)
		}})
	require.NoError(t, errOf(w.Set(t.Context(), "permanent", "", 0)))
	require.NoError(t, errOf(w.Set(t.Context(), "later", "", 0)))
	mock.Add(time.Second)
	require.Equal(t, uint64(2), w.Stats().Fired)
	require.Zero(t, w.Stats().Pending)
	require.Zero(t, w.Stats().Dead)
}

// What waits for Begin, and what has an attempt, is announced again by the next owner, and no crash counts as an
// attempt: no handler can have killed the process.
func TestAnnouncedAgain(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		var firings []durable.Firing[string, string]
		mock := clock.NewMock()
		w := announcing(t, dir, mock, &firings)
		if i == 0 {
			require.NoError(t, errOf(w.Set(t.Context(), "a", "v", time.Second)))
			require.NoError(t, errOf(w.Set(t.Context(), "b", "v", time.Second)))
		}
		mock.Add(time.Minute)
		require.Len(t, firings, 2)
		_, ok := w.Begin("a", firings[0].ID)
		require.True(t, ok)
		for _, f := range firings {
			require.Equal(t, 1, f.Attempt)
		}
		require.True(t, w.Owns("b"))
		require.NoError(t, w.Close())
		_, ok = w.Begin("b", firings[1].ID)
		require.False(t, ok)
		require.False(t, w.Waits("x", firings[1].ID))
	}
}

// Shutdown waits for attempts, and ends their contexts when its own is done.
func TestShutdownAnnounced(t *testing.T) {
	for _, patient := range []bool{true, false} {
		var firings []durable.Firing[string, string]
		mock := clock.NewMock()
		w := announcing(t, t.TempDir(), mock, &firings)
		require.NoError(t, errOf(w.Set(t.Context(), "a", "v", 0)))
		mock.Add(time.Second)
		a, ok := w.Begin("a", firings[0].ID)
		require.True(t, ok)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		shut := make(chan error, 1)
		go func() { shut <- w.Shutdown(ctx) }()
		if patient {
			ended, err := a.End(t.Context(), nil)
			require.NoError(t, err)
			require.True(t, ended)
			require.NoError(t, <-shut)
			continue
		}
		cancel()
		require.ErrorIs(t, <-shut, context.Canceled)
		require.Error(t, a.Context().Err())
		ended, err := a.End(t.Context(), nil)
		require.ErrorIs(t, err, durable.ErrUnavailable) // nil would mean that the timer was set, moved or removed
		require.False(t, ended)
		_, ok = w.Begin("a", firings[0].ID)
		require.False(t, ok)
	}
}

func TestAnnounceArgument(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Announce: func(durable.Firing[string, string]) {}}
	cfg.Handle = func(context.Context, durable.Firing[string, string]) error { return nil }
	_, err := durable.Open(t.Context(), cfg)
	require.ErrorIs(t, err, durable.ErrArgument)
}
