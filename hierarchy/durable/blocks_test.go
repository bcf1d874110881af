package durable_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A log of several files, of which one is missing or cut: the log is damaged, whichever it is, and
// the other partition goes on.
func TestMissingBlocks(t *testing.T) {
	const n = 500
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Partitions: 2, Clock: clock.NewMock(),
		Handle: func(context.Context, firing) error { return nil }}
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), strings.Repeat("v", 64<<10), time.Hour)))
	}
	require.NoError(t, w.Close())
	blocks, err := filepath.Glob(filepath.Join(dir, "streams", "*", "*", "streams", "epicycle_timers_1", "msgs", "*.blk"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(blocks), 2)
	for _, block := range blocks {
		for what, damage := range map[string]func(name string) error{
			"removed": os.Remove,
			"cut":     func(name string) error { return os.Truncate(name, 100_000) },
			"emptied": func(name string) error { return os.Truncate(name, 0) },
		} {
			copied := t.TempDir()
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			name, err := filepath.Rel(dir, block)
			require.NoError(t, err)
			require.NoError(t, damage(filepath.Join(copied, name)))
			cfg.Dir = copied
			w, err := durable.Open(t.Context(), cfg)
			require.NoError(t, err, "%s %s", name, what)
			_, err = w.Len(t.Context())
			require.ErrorIs(t, err, durable.ErrDamaged, "%s %s", name, what)
			require.ErrorContains(t, err, "partition 1")
			halfIsThere(t, w, n)
			require.NoError(t, w.Close())
		}
	}
}

// halfIsThere looks for the keys from 0 to n-1. Those of the damaged partition are ErrDamaged.
func halfIsThere(t *testing.T, w *strs, n int) {
	there, damaged := 0, 0
	for i := range n {
		_, _, ok, err := w.Get(t.Context(), fmt.Sprint(i))
		if err != nil {
			require.ErrorIs(t, err, durable.ErrDamaged)
			damaged++
		}
		if ok {
			there++
		}
	}
	require.Equal(t, n, there+damaged)
	require.Greater(t, there, n/3)
}
