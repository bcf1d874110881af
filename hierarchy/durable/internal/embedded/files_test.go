package embedded

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server is not started before all that its files show is on the disk.
func TestFilesAreSyncedBeforeTheServerStarts(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(streams(dir), "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o700))
	for _, name := range []string{"1", "2"} {
		require.NoError(t, os.WriteFile(filepath.Join(below, name), nil, 0o600))
	}
	s := newServer(dir)
	var synced []string
	s.sync = func(f *os.File) error {
		require.Nil(t, s.server)
		synced = append(synced, filepath.Base(f.Name()))
		return nil
	}
	require.NoError(t, s.begin())
	s.end()
	require.Subset(t, synced, []string{"1", "2"})
	s.sync = func(f *os.File) error { return &os.PathError{Op: "sync", Path: f.Name(), Err: syscall.ENOSPC} }
	require.Error(t, s.begin())
	require.False(t, s.runs())
	s.sync = (*os.File).Sync
	require.Error(t, s.begin()) // what was lost once stays lost
}
