package durable_test

import (
	"context"
	"encoding/binary"
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
	cfg := durable.Config[string, string]{Dir: dir, Partitions: 1,
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

// A directory of the server's files is missing as a whole, as after a backup that was restored in part.
func TestMissingDirectories(t *testing.T) {
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Partitions: 2,
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
	require.GreaterOrEqual(t, missing, 5)
}

// A bit of the marks is flipped. The server finds some of that only when it replaces a mark. If not
// all timers are there, Open or the calls say that something is damaged, also when it is tried again.
func TestDamagedMarks(t *testing.T) {
	const n, places = 20, 16
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Partitions: 2,
		Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	for i := range n {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "", time.Hour)))
	}
	require.NoError(t, w.Close())
	marks := filepath.Join("streams", "jetstream", "$G", "streams", "epicycle_timers_marks", "msgs", "1.blk")
	damaged := 0
	for place := range places {
		cfg.Dir = t.TempDir()
		require.NoError(t, os.CopyFS(cfg.Dir, os.DirFS(dir)))
		data, err := os.ReadFile(filepath.Join(dir, marks))
		require.NoError(t, err)
		data[len(data)*(2*place+1)/(2*places)] ^= 4
		require.NoError(t, os.WriteFile(filepath.Join(cfg.Dir, marks), data, 0o600))
		there, err := count(t, cfg)
		if err == nil {
			require.Equal(t, n, there)
			continue
		}
		damaged++
		require.ErrorIs(t, err, durable.ErrDamaged)
		_, err = count(t, cfg)
		require.ErrorIs(t, err, durable.ErrDamaged)
	}
	require.Positive(t, damaged)
}

// A bit of the number of a message is flipped, so that a server would fill a gap of some 2^44 messages. Only that log,
// or that set for its marks, is damaged, each Open says so at once, and nothing is deleted.
func TestFlippedNumbers(t *testing.T) {
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Partitions: 2,
		Handle: func(context.Context, firing) error { return nil }}
	other := cfg
	other.Name = "other"
	for _, cfg := range []durable.Config[string, string]{cfg, other} {
		w, err := durable.Open(t.Context(), cfg)
		require.NoError(t, err)
		for i := range 20 {
			require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "", time.Hour)))
		}
		require.NoError(t, w.Close())
	}
	for _, stream := range []string{"0", "marks"} {
		cfg.Dir = t.TempDir()
		other.Dir = cfg.Dir
		require.NoError(t, os.CopyFS(cfg.Dir, os.DirFS(dir)))
		file := filepath.Join(cfg.Dir, "streams", "jetstream", "$G", "streams", "epicycle_timers_"+stream, "msgs", "1.blk")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		second := int(binary.LittleEndian.Uint32(data) &^ (1 << 31))
		data[second+4+5] ^= 0x10
		require.NoError(t, os.WriteFile(file, data, 0o600))
		for range 2 {
			requireSetAside(t, cfg, stream)
			n, err := count(t, other)
			require.NoError(t, err)
			require.Equal(t, 20, n)
		}
		kept, err := os.ReadFile(filepath.Join(cfg.Dir, "damaged", "epicycle_timers_"+stream, "msgs", "1.blk"))
		require.NoError(t, err)
		require.Equal(t, data, kept)
	}
}

// requireSetAside opens a set of which a stream is damaged.
func requireSetAside(t *testing.T, cfg durable.Config[string, string], stream string) {
	w, err := durable.Open(t.Context(), cfg)
	if stream != "marks" {
		require.NoError(t, err)
		defer w.Close()
		require.Equal(t, 1, w.Stats().Damaged)
		require.Equal(t, 1, w.Stats().Owned)
		_, err = w.Len(t.Context())
	}
	require.ErrorIs(t, err, durable.ErrDamaged)
	require.ErrorContains(t, err, "1.blk, byte ")
	require.ErrorContains(t, err, filepath.Join(cfg.Dir, "damaged", "epicycle_timers_"+stream))
}

// The marks of one set are damaged, as the server finds out. Another one that is open goes on.
func TestDamagedMarksOfOneOfTwo(t *testing.T) {
	const places = 12
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Partitions: 1,
		Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", time.Hour)))
	require.NoError(t, w.Close())
	marks := filepath.Join("streams", "jetstream", "$G", "streams", "epicycle_timers_marks", "msgs", "1.blk")
	damaged := 0
	for place := range places {
		cfg.Dir = t.TempDir()
		require.NoError(t, os.CopyFS(cfg.Dir, os.DirFS(dir)))
		data, err := os.ReadFile(filepath.Join(dir, marks))
		require.NoError(t, err)
		data[len(data)*(2*place+1)/(2*places)] ^= 4
		require.NoError(t, os.WriteFile(filepath.Join(cfg.Dir, marks), data, 0o600))
		other := cfg
		other.Name = "other"
		going := open(t, other)
		for range 2 {
			if _, err := count(t, cfg); err != nil {
				require.ErrorIs(t, err, durable.ErrDamaged)
				damaged++
			}
			require.NoError(t, errOf(going.Set(t.Context(), "b", "", time.Hour)))
		}
		require.NoError(t, going.Close())
	}
	require.Positive(t, damaged)
}

// The server's files are gone, and the file that says which format they have is there still: a backup
// was restored in part. That is no empty directory.
func TestMissingStreams(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Partitions: 1,
		Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", time.Hour)))
	require.NoError(t, w.Close())
	streams := filepath.Join(cfg.Dir, "streams")
	require.NoError(t, os.Rename(streams, filepath.Join(cfg.Dir, "away")))
	for range 2 {
		_, err := count(t, cfg)
		require.ErrorIs(t, err, durable.ErrDamaged)
		require.ErrorContains(t, err, cfg.Dir)
	}
	require.NoError(t, os.Rename(filepath.Join(cfg.Dir, "away"), streams))
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
