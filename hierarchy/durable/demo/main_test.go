package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal/terminaltest"
)

// The test binary is the process that is killed, too.
func TestMain(m *testing.M) {
	beChild()
	os.Exit(m.Run())
}

// The whole demo runs, with processes that live for a shorter time.
func TestDemo(t *testing.T) {
	var out bytes.Buffer
	dir := filepath.Join(t.TempDir(), "kept")
	o := options{dir: dir, kept: true, life: 300 * time.Millisecond}
	require.NoError(t, show(t.Context(), o, terminal.New(&out, os.Getenv)), "%s", &out)
	text := out.String()
	for _, want := range []string{
		"Epicycle: timers that outlive", "process 1 set ", ": kill -9\n", "process 2 was back after ",
		"process 3 was back after ", "ended when all had fired", "What was acknowledged", "timers set, acknowledged",
		"How late timers were", "to 1 ms", "Half of these", "fell due while no process was there",
	} {
		require.Contains(t, text, want)
	}
	requireStory(t, text, dir)
	require.DirExists(t, filepath.Join(dir, "logs"))
	require.ErrorContains(t, checkDir(dir), "is not empty")
}

// requireStory looks at what every demonstration says in the end, and at how.
func requireStory(t *testing.T, text, dir string) {
	words := strings.Join(strings.Fields(text), " ")
	require.Contains(t, words, "None of the others was lost. None fired early, and none after it was removed.")
	require.Contains(t, words, "The files are in "+dir)
	for l := range strings.Lines(text) {
		require.LessOrEqual(t, terminal.Columns(l)-1, terminal.Width+len(dir), "%s", l)
	}
	for _, never := range []string{"\x1b", "\r", terminal.NoBreak, "%!"} {
		require.NotContains(t, text, never)
	}
}

// What is wrong with the directory is said by the process that uses it, and ends the demo.
func TestDirectoryThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "version"), []byte("another"), 0o600))
	var out bytes.Buffer
	err := show(t.Context(), options{dir: dir, life: time.Millisecond}, terminal.New(&out, os.Getenv))
	require.ErrorContains(t, err, "a process failed")
	require.ErrorContains(t, err, "another format")
}

// An interrupt ends the process that sets timers, too, and removes the temporary directory.
func TestInterrupt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	out := &watched{wanted: "process 1 set", found: interrupt}
	err := show(ctx, options{life: 10 * time.Millisecond}, terminal.New(out, os.Getenv))
	require.EqualError(t, err, "interrupted")
	require.NotContains(t, out.text.String(), "process 3 was back")
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "epicycle-demo-*"))
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has other names for TMPDIR
		require.Empty(t, left)
	}
}

// watched calls found when something was written.
type watched struct {
	text   bytes.Buffer
	wanted string
	found  func()
}

func (w *watched) Write(b []byte) (int, error) {
	w.text.Write(b)
	if strings.Contains(w.text.String(), w.wanted) {
		w.found()
	}
	return len(b), nil
}

func TestBadUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	terminaltest.BadUsage(t, run, "demo", usage, map[string]string{
		"-cluster now":                 `"now"`,
		"-cluster -dir=":               "-dir needs a directory",
		"-fast":                        "-fast",
		"now":                          `"now"`,
		"-dir":                         "-dir",
		"-dir=":                        "-dir needs a directory",
		"-dir " + file:                 "can't be used",
		"-dir " + filepath.Dir(file):   "is not empty",
		"-dir " + t.TempDir() + " now": `"now"`,
	})
}

func TestHelp(t *testing.T) { terminaltest.Help(t, run, usage) }

func TestDefaults(t *testing.T) {
	o, err := parse(nil)
	require.NoError(t, err)
	require.Equal(t, options{life: defaultLife}, o)
	dir := t.TempDir()
	o, err = parse([]string{"-cluster"})
	require.NoError(t, err)
	require.Equal(t, options{cluster: true, life: defaultLife}, o)
	o, err = parse([]string{"-dir", dir})
	require.NoError(t, err)
	require.Equal(t, options{dir: dir, kept: true, life: defaultLife}, o)
}

// A demo whose record has a fault says so and fails.
func TestReportOfAFault(t *testing.T) {
	var out bytes.Buffer
	d := &demo{Screen: terminal.New(&out, os.Getenv), account: newAccount()}
	d.begin()
	d.notes(t, 0, "open 1\nsetting a\nset a\ndone 0 0 1 2 3")
	require.EqualError(t, d.report(time.Second), "this must never happen: one timer was set and never fired: a")
	require.Contains(t, out.String(), "Some promises did not hold: one timer was set and never fired: a.")
}
