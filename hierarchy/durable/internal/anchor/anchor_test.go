package anchor

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever is done to a directory, it is noticed a second later at the latest, and for good.
func TestDirectoriesThatAreGone(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("Windows keeps files that are open")
	}
	for what, change := range map[string]func(dir string) error{
		"deleted": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+" elsewhere") },
		"replaced": func(dir string) error {
			require.NoError(t, os.Rename(dir, dir+" elsewhere"))
			return os.CopyFS(dir, os.DirFS(dir+" elsewhere"))
		},
		"emptied":       func(dir string) error { return os.Remove(filepath.Join(dir, "lock")) },
		"without a dir": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "streams")) },
		"now a file": func(dir string) error {
			require.NoError(t, os.RemoveAll(dir))
			return os.WriteFile(dir, nil, 0o600)
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "timers")
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "streams"), 0o700))
			file, err := os.Create(filepath.Join(dir, "lock"))
			require.NoError(t, err)
			defer file.Close()
			synctest.Test(t, func(t *testing.T) {
				a := New(file, filepath.Join(dir, "streams"))
				require.NoError(t, a.Check())
				time.Sleep(Every)
				require.NoError(t, a.Check())
				require.NoError(t, change(dir))
				require.NoError(t, a.Check(), "it looks once a second")
				time.Sleep(Every)
				require.ErrorIs(t, a.Check(), ErrGone)
				require.NoError(t, os.RemoveAll(dir))
				if _, err := os.Stat(dir + " elsewhere"); err == nil {
					require.NoError(t, os.Rename(dir+" elsewhere", dir))
				}
				time.Sleep(Every)
				require.ErrorIs(t, a.Check(), ErrGone)
			})
		})
	}
}
