package main

import (
	"bytes"
	"go/build"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sources returns directories with the code of others: packages of Go, and the modules that this one depends on, as far
// as they are on the disk.
func sources(t *testing.T) (dirs []string) {
	t.Helper()
	for _, name := range []string{"context", "database/sql", "log/slog", "net/http", "sync", "testing", "time"} {
		if dir := filepath.Join(build.Default.GOROOT, "src", name); build.Default.GOROOT != "" && isDir(dir) {
			dirs = append(dirs, dir)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all").Output()
	if err != nil {
		t.Logf("modules: %v", err)
	}
	return append(dirs, strings.Fields(string(out))...)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// large is the size of files that take much time to parse, and differ from others only after their imports.
const large = 20_000

// copyImporting copies the Go files below from that may import time or context, except large ones.
func copyImporting(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != from && ignored(d.Name()):
			return filepath.SkipDir
		case !d.Type().IsRegular() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if len(text) > large || !bytes.Contains(text, []byte(`"time"`)) && !bytes.Contains(text, []byte(`"context"`)) {
			return nil
		}
		rel, err := filepath.Rel(from, name)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(to, filepath.Dir(rel)), 0o755))
		return os.WriteFile(filepath.Join(to, rel), text, 0o600)
	}))
}

// The code of others is formatted as before when its imports have changed, and has the same bytes when they have been
// changed back.
func TestReversible(t *testing.T) {
	dirs := sources(t)
	write(t, nil)
	for _, dir := range dirs {
		copyImporting(t, dir, filepath.Join("copy", filepath.Base(dir)))
	}
	before := contents(t)
	if len(before) == 0 {
		t.Skip("there is no code of others")
	}
	call(t)
	changed := 0
	for name, text := range contents(t) {
		if text == before[name] {
			continue
		}
		changed++
		if formatted(before[name]) {
			require.True(t, formatted(text), name)
		}
	}
	require.Greater(t, changed, len(before)/2)
	t.Logf("%d of %d files of %d directories", changed, len(before), len(dirs))
	call(t, "-back")
	require.Equal(t, before, contents(t))
}

func formatted(text string) bool {
	f, err := format.Source([]byte(text))
	return err == nil && string(f) == text
}
