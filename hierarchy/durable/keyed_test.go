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
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

type (
	strs   = durable.Keyed[string, string]
	firing = durable.Firing[string, string]
)

// config is one on a mock clock, whose handler notes the keys.
func config(t testing.TB, dir string, mock *clock.Mock, fired *[]string) durable.Config[string, string] {
	return durable.Config[string, string]{Dir: dir, Clock: mock,
		Handle: func(_ context.Context, f firing) error {
			*fired = append(*fired, f.Key+"="+f.Value)
			return nil
		}}
}

func open[K comparable, V any](t testing.TB, cfg durable.Config[K, V]) *durable.Keyed[K, V] {
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

func TestTimersOutliveTheirProcess(t *testing.T) {
	ctx, dir, mock := t.Context(), t.TempDir(), clock.NewMock()
	var fired []string
	w := open(t, config(t, dir, mock, &fired))
	require.NoError(t, errOf(w.Set(ctx, "a", "1", time.Minute)))
	require.NoError(t, errOf(w.SetAt(ctx, "b", "2", mock.Now().Add(2*time.Minute))))
	require.NoError(t, errOf(w.Set(ctx, "c", "3", time.Minute)))
	require.NoError(t, errOf(w.Set(ctx, "d", "4", time.Minute)))
	v, ok, err := w.Remove(ctx, "c")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "3", v)
	_, ok, err = w.Move(ctx, "d", 3*time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, w.Shutdown(ctx))
	require.ErrorIs(t, errOf(w.Set(ctx, "x", "", 0)), durable.ErrClosed)
	_, _, _, err = w.Get(ctx, "a")
	require.ErrorIs(t, err, durable.ErrClosed)

	mock.Add(30 * time.Second)
	w = open(t, config(t, dir, mock, &fired))
	n, err := w.Len(ctx)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	v, left, ok, err := w.Get(ctx, "d")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "4", v)
	require.Equal(t, 150*time.Second, left)
	start := time.Unix(0, 0).UTC()
	require.Equal(t, map[string]time.Time{"a": start.Add(time.Minute), "b": start.Add(2 * time.Minute), "d": start.Add(3 * time.Minute)}, dues(t, w))
	mock.Add(time.Hour)
	require.Equal(t, []string{"a=1", "b=2", "d=4"}, fired)
	n, err = w.Len(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
}

// dues are when the timers of w are due.
func dues(t *testing.T, w *strs) map[string]time.Time {
	all := map[string]time.Time{}
	for e, err := range w.All(t.Context()) {
		require.NoError(t, err)
		all[e.Key] = e.Due.UTC()
	}
	return all
}

func TestFailuresAndDeadTimers(t *testing.T) {
	ctx, mock := t.Context(), clock.NewMock()
	var attempts []firing
	fails := true
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, MaxAttempts: 3,
		Backoff: func(int) time.Duration { return time.Second },
		Handle: func(_ context.Context, f firing) error {
			attempts = append(attempts, f)
			if fails {
				return errors.New("no")
			}
			return nil
		}})
	require.NoError(t, errOf(w.Set(ctx, "a", "1", time.Second)))
	mock.Add(time.Hour)
	require.Len(t, attempts, 3)
	for i, f := range attempts {
		require.Equal(t, i+1, f.Attempt)
		require.Equal(t, attempts[0].ID, f.ID)
		require.Len(t, f.ID.String(), 32)
		require.Equal(t, time.Unix(1, 0), f.Due)
	}
	dead := 0
	for f, err := range w.Dead(ctx) {
		require.NoError(t, err)
		require.Equal(t, "a", f.Key)
		require.Equal(t, attempts[0].ID, f.ID)
		dead++
	}
	require.Equal(t, 1, dead)
	require.Equal(t, 1, w.Stats().Dead)
	fails = false
	ok, err := w.Revive(ctx, "a")
	require.NoError(t, err)
	require.True(t, ok)
	mock.Add(0)
	require.Equal(t, 1, attempts[3].Attempt)
	require.Equal(t, uint64(3), w.Stats().Failed)
	require.Equal(t, uint64(4), w.Stats().Fired)
}

func TestBatch(t *testing.T) {
	ctx, mock := t.Context(), clock.NewMock()
	var fired []string
	w := open(t, config(t, t.TempDir(), mock, &fired))
	var b durable.Batch[string, string]
	for i := range 100 {
		b.Set(fmt.Sprint(i), "v", time.Duration(100-i)*time.Second)
	}
	b.Move("99", time.Hour)
	b.Remove("98")
	b.Remove("none")
	b.SetAt("wall", "w", mock.Now().Add(2*time.Hour))
	require.Equal(t, 104, b.Len())
	require.NoError(t, w.Batch(ctx, &b))
	for i := range b.Len() {
		require.Equal(t, i != 102, b.Took(i), i)
	}
	require.False(t, b.Took(104))
	require.LessOrEqual(t, w.Stats().Frames, uint64(2)) // one for each partition
	mock.Add(3 * time.Hour)
	require.Len(t, fired, 100)
	require.Equal(t, "97=v", fired[0])
	require.Equal(t, []string{"99=v", "wall=w"}, fired[98:])
	b.Reset()
	require.Zero(t, b.Len())
	require.NoError(t, w.Batch(ctx, &b))
	for i := range 5000 {
		b.Set(fmt.Sprint(i), "", time.Hour)
	}
	require.ErrorIs(t, w.Batch(ctx, &b), durable.ErrTooLarge)
}

func TestTooLarge(t *testing.T) {
	ctx, mock := t.Context(), clock.NewMock()
	var fired []string
	w := open(t, config(t, t.TempDir(), mock, &fired))
	require.NoError(t, errOf(w.Set(ctx, strings.Repeat("k", 1<<10), strings.Repeat("v", 64<<10), 0)))
	require.ErrorIs(t, errOf(w.Set(ctx, strings.Repeat("k", 1<<10+1), "", 0)), durable.ErrTooLarge)
	require.ErrorIs(t, errOf(w.Set(ctx, "k", strings.Repeat("v", 64<<10+1), 0)), durable.ErrTooLarge)
}

type (
	named   string
	small   int8
	point   struct{ X, Y int }
	digest  [4]byte
	payload []byte
	octet   byte
)

// roundTrip sets a timer with that key and value, and finds it in the log of another Open.
func roundTrip[K comparable, V any](t *testing.T, k K, v V) {
	ctx, mock := t.Context(), clock.NewMock()
	cfg := durable.Config[K, V]{Dir: t.TempDir(), Clock: mock}
	var fired []durable.Firing[K, V]
	cfg.Handle = func(_ context.Context, f durable.Firing[K, V]) error { fired = append(fired, f); return nil }
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(ctx, k, v, time.Second)))
	require.NoError(t, w.Close())
	w = open(t, cfg)
	there, _, ok, err := w.Get(ctx, k)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, v, there)
	mock.Add(time.Second)
	require.Len(t, fired, 1)
	require.Equal(t, k, fired[0].Key)
	require.Equal(t, v, fired[0].Value)
}

func TestTypesOfKeysAndValues(t *testing.T) {
	roundTrip(t, "key", "value")
	roundTrip(t, named("key"), named("value"))
	roundTrip(t, -5, []byte{1, 2})
	roundTrip(t, small(-128), payload{3})
	roundTrip(t, uint16(65535), []byte{})
	roundTrip(t, digest{1, 2, 3, 4}, 7.5)
	roundTrip(t, [2]octet{1, 2}, []octet{3})
	roundTrip(t, point{1, 2}, map[string]int{"a": 1})
	roundTrip(t, true, point{3, 4})
}

// A mock's timers of a directory and those of a wheel are in one order.
func TestHandlersMayUseTheTimers(t *testing.T) {
	ctx, mock := t.Context(), clock.NewMock()
	var w *strs
	n := 0
	w = open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Handle: func(ctx context.Context, f firing) error {
			if n++; n < 5 {
				_, err := w.Set(context.WithoutCancel(ctx), f.Key, f.Value, time.Minute)
				return err
			}
			return nil
		}})
	require.NoError(t, errOf(w.Set(ctx, "a", "", time.Minute)))
	mock.Add(time.Hour)
	require.Equal(t, 5, n)
	count, err := w.Len(ctx)
	require.NoError(t, err)
	require.Zero(t, count)
}

func TestContextsEnd(t *testing.T) {
	mock := clock.NewMock()
	var fired []string
	w := open(t, config(t, t.TempDir(), mock, &fired))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, _, err := w.Get(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	_, err = w.Len(ctx)
	require.ErrorIs(t, err, context.Canceled)
	for _, err := range w.All(ctx) {
		require.ErrorIs(t, err, context.Canceled)
	}
}
