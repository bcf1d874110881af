package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/internal/api"
)

// The first file has all names that the package does not declare itself. The file for a newer
// Go has what the older file lacks.
func TestWrite(t *testing.T) {
	standard := standardTime(t)
	dir := t.TempDir()
	put(t, dir, "own.go", "package time\n\ntype Timer struct{}\n\nfunc Sleep(d Duration) {}\n")
	require.NoError(t, write(dir, standard, 26, 26))
	text := get(t, dir, "forward.go")
	for _, want := range []string{
		"\nfunc Now() Time { return time.Now() }\n", "\tJanuary ", "= time.January\n", "\tUTC ", "= time.UTC\n",
		"\tDuration ", "= time.Duration\n", "func Date(year int, month Month, ",
	} {
		require.Contains(t, text, want)
	}
	for _, not := range []string{"Sleep", "time.Timer\n", "go:build"} {
		require.NotContains(t, text, not)
	}
	require.NoError(t, write(dir, standard, 26, 26), "its own output counts for nothing")
	require.Equal(t, text, get(t, dir, "forward.go"))
	require.NoError(t, write(dir, standard, 26, 27))
	require.NoFileExists(t, filepath.Join(dir, "forward_go127.go"))

	put(t, dir, "forward.go", strings.Replace(text, "\nfunc Now() Time { return time.Now() }\n", "\n", 1))
	require.NoError(t, write(dir, standard, 26, 27))
	newer := get(t, dir, "forward_go127.go")
	require.Contains(t, newer, "//go:build go1.27\n")
	require.Contains(t, newer, "func Now() Time { return time.Now() }")
	require.Equal(t, 1, strings.Count(newer, "\nfunc "))
}

// Parameters of other packages are imported, and results of none are not returned.
func TestSource(t *testing.T) {
	standard, err := api.Standard("context")
	if errors.Is(err, api.ErrNoSource) {
		t.Skip(err)
	}
	require.NoError(t, err)
	text, err := source("context", "", standard)
	require.NoError(t, err)
	require.Contains(t, string(text), "\t\"context\"\n\t\"time\"\n")
	text, err = source("time", "", standardTime(t))
	require.NoError(t, err)
	require.Contains(t, string(text), "func Sleep(d Duration) { time.Sleep(d) }")
}

func standardTime(t *testing.T) *api.Package {
	standard, err := api.Standard("time")
	if errors.Is(err, api.ErrNoSource) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return standard
}

func put(t *testing.T, dir, name, text string) {
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func get(t *testing.T, dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}
