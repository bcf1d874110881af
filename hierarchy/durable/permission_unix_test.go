//go:build unix

package durable_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// unprivileged is the directory that a copy of this program has, as a user who is not root.
const unprivileged = "EPICYCLE_TEST_UNPRIVILEGED"

// nobody is a user who has no files.
const nobody = 65534

// A directory of which something is not ours is refused with an error that says what. Nothing in it
// is lost.
func TestOpenWithoutPermission(t *testing.T) {
	dir := os.Getenv(unprivileged)
	switch {
	case dir != "":
		if os.Geteuid() == 0 {
			require.NoError(t, syscall.Setgid(nobody))
			require.NoError(t, syscall.Setuid(nobody))
		}
		requirePermission(t, dir)
	default:
		dir = t.TempDir()
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(dir, nobody, nobody))
			require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
		}
		cmd := exec.Command(os.Args[0], "-test.run", "^TestOpenWithoutPermission$")
		cmd.Env = append(os.Environ(), unprivileged+"="+dir)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

func requirePermission(t *testing.T, dir string) {
	var fired []string
	cfg := config(t, filepath.Join(dir, "timers"), clock.NewMock(), &fired)
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Hour)))
	require.NoError(t, w.Close())
	tried := 0
	require.NoError(t, filepath.WalkDir(cfg.Dir, func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		for _, mode := range []os.FileMode{0, 0o500} {
			if mode != 0 && (name == cfg.Dir || slices.Contains([]string{"logs", "version"}, filepath.Base(name))) {
				continue // nothing is written to it once it is there
			}
			require.NoError(t, os.Chmod(name, mode))
			_, err := count(t, cfg)
			require.ErrorIs(t, err, fs.ErrPermission, "%v %s", mode, name)
			require.ErrorContains(t, err, cfg.Dir)
			require.NoError(t, os.Chmod(name, info.Mode()))
			tried++
		}
		return nil
	}))
	n, err := count(t, cfg)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 11, tried)
}
