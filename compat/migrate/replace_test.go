package main

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// planned returns what becomes of the files.
func planned(t *testing.T, names ...string) []*file {
	t.Helper()
	files, err := plan(names, there)
	require.NoError(t, err)
	return files
}

// Whichever file can't be renamed, all are as they were.
func TestReplaceGoesBack(t *testing.T) {
	write(t, map[string]string{"a.go": usesTime, "b.go": usesTime, "c.go": usesTime, "no.go": "package a\n"})
	require.NoError(t, os.Chmod("a.go", 0o640))
	before := contents(t)
	files := planned(t, "a.go", "b.go", "c.go", "no.go")
	cause := errors.New("no")
	for last := range 3 {
		renames := 0
		err := replace(t.Context(), files, func(from, to string) error {
			if renames++; renames == last+1 {
				return cause
			}
			return os.Rename(from, to)
		})
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, "no file was changed")
		require.Equal(t, 2*last+1, renames, "and back")
		require.Equal(t, before, contents(t))
		info, err := os.Stat("a.go")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	}
	require.NoError(t, replace(t.Context(), files, os.Rename))
	info, err := os.Stat("a.go")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Len(t, contents(t), 4)
}

// A file that can't be restored is named, and so is the one with its former text.
func TestReplaceCannotGoBack(t *testing.T) {
	write(t, map[string]string{"a.go": usesTime, "b.go": usesTime})
	cause := errors.New("no")
	renames := 0
	err := replace(t.Context(), planned(t, "a.go", "b.go"), func(from, to string) error {
		if renames++; renames > 1 {
			return cause
		}
		return os.Rename(from, to)
	})
	require.ErrorContains(t, err, "1 file was changed, and can't be restored")
	now := contents(t)
	require.Len(t, now, 3)
	require.Equal(t, usesTime, now["b.go"])
	delete(now, "a.go")
	delete(now, "b.go")
	for name, text := range now {
		require.Equal(t, usesTime, text)
		require.ErrorContains(t, err, "a.go: its former text is in ")
		require.ErrorContains(t, err, name)
	}
}

// A directory that is in the way of the last file, and one that is gone, are found in time.
func TestReplaceInTheWay(t *testing.T) {
	write(t, map[string]string{"a.go": usesTime, "b/b.go": usesTime})
	files := planned(t, "a.go", "b/b.go")
	require.NoError(t, os.Remove("b/b.go"))
	require.ErrorContains(t, replace(t.Context(), files, os.Rename), "no file was changed")
	require.Equal(t, map[string]string{"a.go": usesTime}, contents(t))
	require.NoError(t, os.MkdirAll("b/b.go", 0o755))
	require.ErrorContains(t, replace(t.Context(), files, os.Rename), "no file was changed")
	require.Equal(t, map[string]string{"a.go": usesTime}, contents(t))
}

// What another program writes while the command runs is not lost.
func TestReplaceKeepsWhatOthersWrite(t *testing.T) {
	write(t, map[string]string{"a.go": usesTime, "b.go": usesTime})
	files := planned(t, "a.go", "b.go")
	require.NoError(t, os.WriteFile("b.go", []byte("package b\n"), 0o600))
	require.ErrorContains(t, replace(t.Context(), files, os.Rename), "another program")
	require.Equal(t, map[string]string{"a.go": usesTime, "b.go": "package b\n"}, contents(t))
}

// Somebody who interrupts the command finds all files as they were, and no others.
func TestReplaceIsInterrupted(t *testing.T) {
	write(t, map[string]string{"a.go": usesTime, "b.go": usesTime})
	before := contents(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, replace(ctx, planned(t, "a.go", "b.go"), os.Rename), context.Canceled)
	require.Equal(t, before, contents(t))
}
