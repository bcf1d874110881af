package durable_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// requireOurs checks that an error is of some kinds, and that its text begins with the name of this package, which it
// has once.
func requireOurs(t *testing.T, err error, kinds ...error) {
	t.Helper()
	for _, kind := range kinds {
		require.ErrorIs(t, err, kind)
	}
	require.True(t, strings.HasPrefix(err.Error(), "durable: "), err)
	require.Equal(t, 1, strings.Count(err.Error(), "durable: "), err)
	require.NotContains(t, err.Error(), "hierarchy: ")
}

func TestErrorsOfCallsNameTheirPackage(t *testing.T) {
	ctx := t.Context()
	handle := func(context.Context, firing) error { return nil }
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), MaxPending: 1, Handle: handle})
	require.NoError(t, errOf(w.Set(ctx, "k", "", time.Hour)))
	requireOurs(t, errOf(w.Set(ctx, "other", "", time.Hour)), durable.ErrFull, hierarchy.ErrFull)
	requireOurs(t, errOf(w.Set(ctx, strings.Repeat("k", 2000), "", time.Hour)), durable.ErrTooLarge)
	requireOurs(t, errOf(w.Set(ctx, "k", strings.Repeat("v", 70_000), time.Hour)), durable.ErrTooLarge)
	var large durable.Batch[string, string]
	for range 2001 {
		large.Remove("k")
	}
	requireOurs(t, w.Batch(ctx, &large), durable.ErrTooLarge)
	require.NoError(t, w.Close())
	requireClosed(t, w)
}

// requireClosed checks what the calls return after Close.
func requireClosed(t *testing.T, w *strs) {
	ctx := t.Context()
	check := func(err error) { t.Helper(); requireOurs(t, err, durable.ErrClosed, hierarchy.ErrClosed) }
	check(errOf(w.Set(ctx, "k", "", time.Hour)))
	_, _, err := w.Move(ctx, "k", time.Hour)
	check(err)
	_, _, err = w.Remove(ctx, "k")
	check(err)
	_, _, _, err = w.Get(ctx, "k")
	check(err)
	_, err = w.Len(ctx)
	check(err)
	var b durable.Batch[string, string]
	b.Remove("k")
	check(w.Batch(ctx, &b))
	for _, err := range w.All(ctx) {
		check(err)
	}
	for _, err := range w.Dead(ctx) {
		check(err)
	}
}

func TestErrorsOfOpenNameTheirPackage(t *testing.T) {
	ctx := t.Context()
	cfg := durable.Config[string, string]{Dir: t.TempDir(),
		Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(ctx, "k", "", time.Hour)))
	again := func(change func(*durable.Config[string, string])) error {
		cfg := cfg
		change(&cfg)
		_, err := durable.Open(ctx, cfg)
		return err
	}
	argument := []error{durable.ErrArgument, hierarchy.ErrArgument}
	requireOurs(t, again(func(*durable.Config[string, string]) {}), argument...) // the name is open
	requireOurs(t, again(func(c *durable.Config[string, string]) { c.Name = "Timers" }), argument...)
	requireOurs(t, again(func(c *durable.Config[string, string]) { c.Handle = nil }), argument...)
	_, err := durable.Open(ctx, durable.Config[any, string]{Dir: t.TempDir(),
		Handle: func(context.Context, durable.Firing[any, string]) error { return nil }})
	requireOurs(t, err, argument...)
	require.NoError(t, w.Close())
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = durable.Open(ended, cfg)
	requireOurs(t, err, context.Canceled)
}

func TestErrorsOfDamageNameTheirPackage(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir(),
		Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "value", time.Hour)))
	require.NoError(t, w.Close())
	change(t, segment(cfg.Dir, 1), func(data []byte) []byte { return data[:100] })
	w = open(t, cfg)
	requireOurs(t, errOf(w.Set(t.Context(), "k", "", time.Hour)), durable.ErrDamaged)
	_, _, _, err := w.Get(t.Context(), "k")
	requireOurs(t, err, durable.ErrDamaged)
}

// What a process is told by another one, or can't ask it.
func TestErrorsOfOthersNameTheirPackage(t *testing.T) {
	urls, _ := natsServers(t, 1)
	var r record
	a, nc := openShared(t, connect(t, urls), &r, time.Minute), connect(t, urls)
	b := openShared(t, nc, &r, time.Minute)
	var large durable.Batch[string, string]
	for range 2001 {
		large.Remove("k")
	}
	requireOurs(t, a.Batch(t.Context(), &large), durable.ErrTooLarge) // one of them does not own the partition
	requireOurs(t, b.Batch(t.Context(), &large), durable.ErrTooLarge)
	require.NoError(t, a.Close())
	requireClosed(t, a)
	nc.Close()
	_, err := b.Set(t.Context(), "k", "", time.Hour)
	requireOurs(t, err, durable.ErrUnavailable)
	require.NoError(t, b.Close())
	requireClosed(t, b)
}
