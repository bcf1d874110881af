package durable_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A directory that is deleted or moved while it is open: soon nothing is acknowledged any more, no handler is called,
// and Health says why. Another directory in its place can be opened after Close.
func TestDirectoryIsGone(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("Windows keeps files that are open")
	}
	for what, change := range map[string]func(dir string) error{
		"deleted": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+" elsewhere") },
	} {
		t.Run(what, func(t *testing.T) {
			ctx, dir := t.Context(), filepath.Join(t.TempDir(), "timers")
			fired := make(chan string, 100)
			cfg := durable.Config[string, string]{Dir: dir, Handle: func(_ context.Context, f firing) error {
				fired <- f.Key
				return nil
			}}
			w, err := durable.Open(ctx, cfg)
			require.NoError(t, err)
			require.NoError(t, errOf(w.Set(ctx, "later", "", time.Hour)))
			require.NoError(t, w.Health())
			require.NoError(t, change(dir))
			deleted := time.Now()
			for err == nil {
				_, err = w.Set(ctx, "k", strings.Repeat("v", 10_000), time.Hour) // soon needs another file
				require.Less(t, time.Since(deleted), 30*time.Second)
			}
			requireOurs(t, err)
			require.ErrorContains(t, err, "was deleted, moved or replaced while it was open")
			for range 3 {
				requireOurs(t, errOf(w.Set(ctx, "k", "", 0)), durable.ErrDamaged)
			}
			_, _, _, err = w.Get(ctx, "later")
			requireOurs(t, err, durable.ErrDamaged)
			err = w.Health()
			requireOurs(t, err, durable.ErrDamaged)
			require.ErrorContains(t, err, dir+": ")
			require.Equal(t, 1, w.Stats().Damaged)
			require.Empty(t, fired)

			_, err = durable.Open(ctx, cfg)
			require.ErrorContains(t, err, "has to be closed first")
			_ = w.Close()
			w, err = durable.Open(ctx, cfg)
			require.NoError(t, err)
			n, err := w.Len(ctx)
			require.NoError(t, err)
			require.Zero(t, n)
			require.NoError(t, errOf(w.Set(ctx, "new", "", 0)))
			require.Equal(t, "new", <-fired)
			require.NoError(t, w.Close())
		})
	}
}
