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
	files, err := filepath.Glob(filepath.Join(dir, "streams", "*", "*", "streams", "epicycle_timers_*", "msgs", "*.blk"))
	require.NoError(t, err)
	status, found, said := salvaged(t, files...)
	require.Equal(t, 0, status, said)
	require.Contains(t, said, "timers, partition 1: ")
	require.Len(t, found, len(values))

	for at, name := range map[int]string{0: "epicycle_timers_0", 1: "epicycle_timers_1"} {
		file := filepath.Join(filepath.Dir(filepath.Dir(files[0])), "..", name, "msgs", "1.blk")
		status, part, said := salvaged(t, file)
		require.Equal(t, 1, status)
		require.Contains(t, said, "its mark is missing")
		require.Contains(t, said, "1 things are wrong")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		copied := filepath.Join(t.TempDir(), "x.blk")
		require.NoError(t, os.WriteFile(copied, data, 0o600))
		status, same, said := salvaged(t, copied)
		require.Equal(t, 1, status)
		require.Len(t, same, len(part))
		for k, l := range same {
			require.Equal(t, values[k], *l.ValueText)
			require.Equal(t, at, l.Partition)
			require.Equal(t, at, part[k].Partition)
			require.Equal(t, found[k].ID, l.ID)
			require.Empty(t, l.Name)
			require.False(t, l.Uncertain)
		}
		require.Contains(t, said, ", partition "+name[len(name)-1:]+": ")
	}
	status, _, said = salvaged(t, dir, files[0])
	require.Equal(t, 2, status)
	require.Contains(t, said, "it is a directory, and there are other arguments")
}
