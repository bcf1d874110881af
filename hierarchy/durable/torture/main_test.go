//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal/terminaltest"
)

// The test binary is the servers and workers, too.
func TestMain(m *testing.M) {
	beChild()
	os.Exit(m.Run())
}

// A short run has faults, operations and firings, breaks nothing, and leaves nothing.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some 15s")
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := run([]string{"-for", "4s", "-seed", "6", "-workers", "2", "-dir", dir, "-v"}, &out, &errs)
	require.Equal(t, terminal.ExitOK, code, "%s%s", &out, &errs)
	for _, want := range []string{"seed 6, 4s, in ", "faults begin", "idle", " answered", "of them compared with each other", "No promise was broken."} {
		require.Contains(t, out.String(), want)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// So does one with one server.
func TestRunOneServer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some 10s")
	}
	var out, errs bytes.Buffer
	code := run([]string{"-for", "2s", "-servers", "1", "-workers", "2", "-only", killWorker, "-dir", t.TempDir()}, &out, &errs)
	require.Equal(t, terminal.ExitOK, code, "%s%s", &out, &errs)
	require.Contains(t, out.String(), killWorker)
}

func TestBadUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	terminaltest.BadUsage(t, run, "torture", usage, map[string]string{
		"-fast":                     "-fast",
		"now":                       `"now"`,
		"-for 1ms":                  "-for 1ms is shorter than 1s",
		"-runs 0":                   "-runs 0",
		"-seed x":                   "-seed",
		"-workers 0":                "-workers 0",
		"-workers 33":               "-workers 33",
		"-servers 2":                "-servers 2",
		"-partitions 0":             "-partitions 0",
		"-lease 1ms":                "-lease 1ms",
		"-keys 0":                   "-keys 0",
		"-only x":                   `-only "x"`,
		"-servers 1 -only majority": `-only "majority"`,
		"-dir " + file:              "is not a directory",
		"-dir " + file + "x":        "can't be used",
	})
}

func TestHelp(t *testing.T) { terminaltest.Help(t, run, usage) }

// A run can be made again by what it says.
func TestAgain(t *testing.T) {
	o, err := parse(strings.Fields("-for 7s -seed 5 -workers 2 -servers 5 -partitions 9 -lease 3s -keys 4 -only join"))
	require.NoError(t, err)
	again, err := parse(strings.Fields(strings.ReplaceAll(strings.TrimPrefix(o.again(), "go run ./torture "), "'", "")))
	require.NoError(t, err)
	require.Equal(t, o, again)
}

// A seed always draws the same faults, another one draws others, and all kinds are drawn.
func TestDraw(t *testing.T) {
	o, err := parse([]string{"-for", "10m"})
	require.NoError(t, err)
	all := draw(&o)
	require.Equal(t, all, draw(&o))
	drawn := map[string]int{}
	for _, p := range all {
		drawn[p.fault]++
		require.Less(t, p.at, o.length)
		require.LessOrEqual(t, p.at+p.long, o.length)
	}
	require.Len(t, drawn, len(o.weights()))
	o.seed++
	require.NotEqual(t, all, draw(&o))
	o.only = "server killed,join"
	for _, p := range draw(&o) {
		require.Contains(t, []string{killServer, joinWorker}, p.fault)
	}
}
