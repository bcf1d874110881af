package api

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// pkg writes a package into a new directory.
func pkg(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// Each kind of difference is found.
func TestDifferences(t *testing.T) {
	dir := pkg(t, map[string]string{"a.go": `package context

import "context"
import "time"

type Context interface{ Done() <-chan struct{} }
type CancelFunc = context.CancelFunc
const Canceled = 1
var DeadlineExceeded = context.DeadlineExceeded
func Background() context.Context { return nil }
func WithTimeout(parent context.Context, timeout time.Duration) (context.Context, CancelFunc) { return nil, nil }
func WithDeadline(parent context.Context, d time.Duration) (context.Context, CancelFunc) { return nil, nil }
func New() {}
func Own() {}
`})
	found, err := Differences("context", dir, "Own")
	if errors.Is(err, ErrNoSource) {
		t.Skip(err)
	}
	require.NoError(t, err)
	for _, want := range []string{"Context: ", "TODO: missing", "Canceled: ", "WithDeadline: ", "New: not in"} {
		require.Contains(t, joined(found), "\n"+want)
	}
	for _, not := range []string{"Background: ", "CancelFunc: ", "WithTimeout: ", "DeadlineExceeded: ", "Own: "} {
		require.NotContains(t, joined(found), "\n"+not)
	}
}

func joined(lines []string) (text string) {
	for _, line := range lines {
		text += "\n" + line
	}
	return text
}

// A file for a newer Go does not count for an older one.
func TestDeclaredByVersion(t *testing.T) {
	dir := pkg(t, map[string]string{
		"old.go": "package p\n\nfunc Old() {}\nconst C = 1\ntype T int\nfunc (T) Method() {}\nvar private, V int\n",
		"new.go": "//go:build go1.27\n\npackage p\n\nfunc New() {}\n",
	})
	names := func(minor int) (names []string) {
		p, err := Declared(dir, minor)
		require.NoError(t, err)
		for _, n := range p.Names {
			names = append(names, n.Kind+" "+n.Name)
		}
		return names
	}
	require.ElementsMatch(t, []string{"func Old", "const C", "type T", "var V"}, names(26))
	require.Contains(t, names(27), "func New")

	p, err := Declared(dir, 27)
	require.NoError(t, err)
	old, err := Declared(dir, 26)
	require.NoError(t, err)
	require.Len(t, p.Without(old).Names, 1)
	empty, err := Declared(t.TempDir(), 27)
	require.NoError(t, err)
	require.Empty(t, empty.Names)
}

func TestMinor(t *testing.T) {
	for version, want := range map[string]int{"go1.26.0": 26, "go1.27rc1": 27, "devel go1.28-abc": 28} {
		got, err := Minor(version)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := Minor("devel +abc")
	require.Error(t, err)
}
