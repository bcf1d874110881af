package durable_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Each file of the directory is shortened, changed, or removed. Either the timers are all there,
// or Open or the calls say that something is wrong.
func TestDamagedFiles(t *testing.T) {
	const n = 40
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir,
		Handle: func(context.Context, firing) error { return nil }}
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), strings.Repeat("v", 1000), time.Hour)))
	}
	require.NoError(t, w.Close())
	damaged := 0
	for _, file := range files(t, dir) {
		for what, damage := range damages {
			copied := t.TempDir()
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			data, err := os.ReadFile(filepath.Join(copied, file))
			require.NoError(t, err)
			require.NoError(t, os.Remove(filepath.Join(copied, file)))
			if damage != nil {
				require.NoError(t, os.WriteFile(filepath.Join(copied, file), damage(data), 0o600))
			}
			cfg.Dir = copied
			there, err := count(t, cfg)
			if err != nil {
				damaged++
				continue
			}
			require.Equal(t, n, there, "%s: %s", file, what)
		}
	}
	require.Greater(t, damaged, 8)
}

// A directory is missing as a whole, as after a backup that was restored in part.
func TestMissingDirectories(t *testing.T) {
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir,
		Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "key", "", time.Hour)))
	require.NoError(t, w.Close())
	missing := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		if !d.IsDir() || name == "." {
			return nil
		}
		cfg.Dir = t.TempDir()
		require.NoError(t, os.CopyFS(cfg.Dir, os.DirFS(dir)))
		require.NoError(t, os.RemoveAll(filepath.Join(cfg.Dir, name)))
		there, err := count(t, cfg)
		if err != nil {
			require.ErrorIs(t, err, durable.ErrDamaged, name)
			missing++
			return nil
		}
		require.Equal(t, 1, there, name)
		return nil
	}))
	require.Equal(t, 2, missing)
}

// A bit of the mark is flipped. Either all timers are there, or Open or the calls say that something is damaged, also
// when it is tried again. Another name goes on.
func TestDamagedMarks(t *testing.T) {
	const n = 20
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	for i := range n {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "", time.Hour)))
	}
	require.NoError(t, w.Close())
	damaged := 0
	for _, places := range [][]int{{0}, {9}, {13}, {4096}, {4096 + 9}, {4096 + 13}, {0, 4096}, {9, 4096 + 15}} {
		cfg.Dir = t.TempDir()
		require.NoError(t, os.CopyFS(cfg.Dir, os.DirFS(dir)))
		change(t, filepath.Join(cfg.Dir, "logs", "timers.mark"), func(data []byte) []byte {
			for _, at := range places {
				data[at] ^= 4
			}
			return data
		})
		other := cfg
		other.Name = "other"
		going := open(t, other)
		for range 2 {
			there, err := count(t, cfg)
			if err == nil {
				require.Equal(t, n, there)
			} else {
				require.ErrorIs(t, err, durable.ErrDamaged)
				damaged++
			}
			require.NoError(t, errOf(going.Set(t.Context(), "b", "", time.Hour)))
		}
		require.NoError(t, going.Close())
	}
	require.Equal(t, 4, damaged, "one of the two marks is enough")
}

// segment returns the name of a segment of the log of timers.
func segment(dir string, n int) string {
	return filepath.Join(dir, "logs", "timers", fmt.Sprintf("%016x.seg", n))
}

// change changes what a file has.
func change(t *testing.T, name string, to func([]byte) []byte) {
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, to(data), 0o600))
}

// A log of several segments, of which one is missing, or cut off before its end: the log is damaged, whichever it is.
func TestMissingSegments(t *testing.T) {
	const n = 500
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	for i := range n {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), strings.Repeat("v", 64<<10), time.Hour)))
	}
	require.NoError(t, w.Close())
	segments, err := filepath.Glob(filepath.Join(dir, "logs", "timers", "*.seg"))
	require.NoError(t, err)
	require.Greater(t, len(segments), 5)
	for at, name := range segments {
		for what, damage := range map[string]func(name string) error{
			"removed": os.Remove,
			"cut":     func(name string) error { return os.Truncate(name, 100_000) },
			"emptied": func(name string) error { return os.Truncate(name, 0) },
		} {
			cfg.Dir = t.TempDir()
			require.NoError(t, os.CopyFS(cfg.Dir, os.DirFS(dir)))
			require.NoError(t, damage(segment(cfg.Dir, at+1)))
			_, err = count(t, cfg)
			require.ErrorIs(t, err, durable.ErrDamaged, "%s %s", name, what)
		}
	}
}

// The logs are gone, and the file that says which format they have is there still: a backup was restored in part. That is
// no empty directory.
func TestMissingLogs(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", time.Hour)))
	require.NoError(t, w.Close())
	logs := filepath.Join(cfg.Dir, "logs")
	require.NoError(t, os.Rename(logs, filepath.Join(cfg.Dir, "away")))
	for range 2 {
		_, err := count(t, cfg)
		require.ErrorIs(t, err, durable.ErrDamaged)
		require.ErrorContains(t, err, cfg.Dir)
	}
	require.NoError(t, os.Rename(filepath.Join(cfg.Dir, "away"), logs))
	n, err := count(t, cfg)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// damages are what can happen to a file. nil removes it.
var damages = map[string]func([]byte) []byte{
	"removed":      nil,
	"emptied":      func(b []byte) []byte { return nil },
	"cut in half":  func(b []byte) []byte { return b[:len(b)/2] },
	"cut by one":   func(b []byte) []byte { return b[:max(0, len(b)-1)] },
	"first byte":   flipped(func(n int) int { return 0 }),
	"middle byte":  flipped(func(n int) int { return n / 2 }),
	"a later byte": flipped(func(n int) int { return n * 3 / 4 }),
	"last byte":    flipped(func(n int) int { return n - 1 }),
}

func flipped(at func(n int) int) func([]byte) []byte {
	return func(b []byte) []byte {
		if len(b) > 0 {
			b[at(len(b))] ^= 0x20
		}
		return b
	}
}

// files are the files below dir.
func files(t *testing.T, dir string) (names []string) {
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// count is the number of timers.
func count(t *testing.T, cfg durable.Config[string, string]) (n int, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	w, err := durable.Open(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	return w.Len(ctx)
}
