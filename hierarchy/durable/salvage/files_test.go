package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files are enough, also copies of them: all but where the log must end is in them.
func TestFiles(t *testing.T) {
	dir, values := directory(t)
	segment := filepath.Join(dir, "logs", "timers", "0000000000000001.seg")
	status, found, said := salvaged(t, segment)
	require.Equal(t, 0, status, said)
	require.Contains(t, said, "timers: ")
	require.Len(t, found, len(values))

	data, err := os.ReadFile(segment)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(copied, data, 0o600))
	status, same, said := salvaged(t, copied)
	require.Equal(t, 1, status)
	require.Contains(t, said, "a log without a name: its mark is missing")
	require.Contains(t, said, "1 things are wrong")
	require.Len(t, same, len(values))
	for k, l := range same {
		require.Equal(t, values[k], *l.ValueText)
		require.Equal(t, found[k].ID, l.ID)
		require.Empty(t, l.Name)
		require.False(t, l.Uncertain)
	}
	status, _, said = salvaged(t, dir, segment)
	require.Equal(t, 2, status)
	require.Contains(t, said, "it is a directory, and there are other arguments")
}
