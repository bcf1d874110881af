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

func TestBadUsage(t *testing.T) {
	terminaltest.BadUsage(t, run, "migrate", usage, map[string]string{
		"-x": "-x", "-n=maybe": "maybe", "-only fmt": `"fmt"`, "-only time,": `""`,
	})
}

func TestHelp(t *testing.T) { terminaltest.Help(t, run, usage) }

const usesTime = "package a\n\nimport \"time\"\n"

// write writes files below a new directory, in which the test runs from then on.
func write(t *testing.T, texts map[string]string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(dir)
	for name, text := range texts {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// contents returns the texts of all files below the working directory.
func contents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		texts[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return texts
}

// call runs the command, which must succeed, and returns what it prints.
func call(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	require.Equal(t, terminal.ExitOK, run(args, &out, &errs), errs.String())
	return filepath.ToSlash(out.String())
}

// summary is what call returns, without the lines about single files.
func summary(t *testing.T, args ...string) string {
	t.Helper()
	all := call(t, args...)
	if i := strings.Index(all, " of "); i >= 0 {
		all = all[strings.LastIndex(all[:i], "\n")+1:]
	}
	return all
}

// fails runs the command, which must fail and change nothing, and returns the error that it prints.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	before := contents(t)
	var out, errs bytes.Buffer
	require.Equal(t, terminal.ExitFailed, run(args, &out, &errs))
	require.Empty(t, out.String())
	require.Equal(t, before, contents(t))
	return filepath.ToSlash(errs.String())
}

// The command goes through directories as the go command does, and with -n writes nothing.
func TestTree(t *testing.T) {
	write(t, map[string]string{
		"a.go": usesTime, "b/b.go": usesTime, "vendor/v.go": usesTime, "testdata/t.go": usesTime, ".git/g.go": usesTime,
		"_x.go": usesTime, ".y.go": usesTime, "a.txt": usesTime, "c/c.go/c.go": usesTime,
	})
	before := contents(t)
	require.Equal(t, "would change 3 of 3 files\n", summary(t, "-n"))
	require.Equal(t, "would change a.go\nwould change 1 of 1 file\n", call(t, "-n", "."))
	require.Equal(t, before, contents(t))
	require.Equal(t, "changed 3 of 3 files\n", summary(t, "./...", "a.go"))
	require.Equal(t, "changed 0 of 3 files\n", call(t, "..."))
	require.Equal(t, "changed b/b.go\nchanged 1 of 1 file\n", call(t, "-back", "b/b.go"))
	require.Equal(t, "changed 2 of 3 files\n", summary(t, "-back"))
	require.Equal(t, before, contents(t))
	require.Equal(t, "changed 1 of 1 file\n", summary(t, "vendor"))
	require.Contains(t, fails(t, "none"), "none")
}

// A nested module is left as it is unless it is named.
func TestNestedModules(t *testing.T) {
	write(t, map[string]string{
		"go.mod": "module a\n", "a.go": usesTime, "sub/go.mod": "module b\n", "sub/b.go": usesTime,
		"sub/in/b.go": usesTime, "nomod/go.mod/c.go": usesTime,
	})
	require.Equal(t, "would change a.go\nwould change nomod/go.mod/c.go\n"+
		"skipped sub: a module of its own: name it to change its files\nwould change 2 of 2 files\nskipped 1 nested module\n",
		call(t, "-n"))
	require.Equal(t, "would change 2 of 2 files\n", summary(t, "-n", "./sub/..."))
	require.Equal(t, "would change 4 of 4 files\n", summary(t, "-n", "./...", "./sub/..."))
}

// A file that can't be parsed, or is read-only, keeps all others from being changed, unless -skip-bad is set.
func TestAllOrNothing(t *testing.T) {
	write(t, map[string]string{
		"a.go": usesTime, "b.go": "package {{.Name}}\n", "c.go": usesTime, "d.go": "package a\n\nfunc {\n", "z.go": usesTime,
		"readonly.go": "package a\n",
	})
	require.NoError(t, os.Chmod("c.go", 0o444))
	require.NoError(t, os.Chmod("readonly.go", 0o444))
	for _, args := range [][]string{nil, {"-n"}} {
		errs := fails(t, args...)
		for _, want := range []string{"3 can't be", "b.go:1:9", "c.go: the file is read-only", "d.go:3:6"} {
			require.Contains(t, errs, want)
		}
		require.NotContains(t, errs, "readonly.go")
	}
	require.Equal(t, "changed 2 of 6 files\nskipped 3 files that can't be changed\n", summary(t, "-skip-bad"))
	require.Contains(t, contents(t)["a.go"], ours)
	require.Contains(t, contents(t)["z.go"], ours)
	require.Equal(t, usesTime, contents(t)["c.go"])
}

// -only names the packages whose imports change.
func TestOnly(t *testing.T) {
	both := "package a\n\nimport (\n\t\"context\"\n\t\"time\"\n)\n"
	write(t, map[string]string{"a.go": both})
	call(t, "-only", "context")
	require.Equal(t, "package a\n\nimport (\n\t\"github.com/epicycle-go/epicycle/compat/context\"\n\t\"time\"\n)\n",
		contents(t)["a.go"])
	call(t, "-only", "time,context")
	require.NotContains(t, contents(t)["a.go"], "\"time\"")
	call(t, "-back", "-only", "context")
	require.Contains(t, contents(t)["a.go"], "\"context\"")
	require.NotContains(t, contents(t)["a.go"], "\"time\"")
	call(t, "-back", "-only", "time")
	require.Equal(t, both, contents(t)["a.go"])
}

// The directive exempts a file in both directions, also one that is no Go.
func TestKeep(t *testing.T) {
	kept := map[string]string{
		"a.go": "// Copyright.\n\n//epicycle:keep zapcore.Clock\n\n" + usesTime,
		"b.go": "// Package a is.\n//\n//epicycle:keep\n" + usesTime,
		"c.go": "\ufeff//go:build linux\r\n\r\n//epicycle:keep\r\n\r\npackage {{.Name}}\r\n",
		"d.go": "//epicycle:keep\n\npackage a\n\nimport \"" + ours + "time\"\n",
	}
	write(t, kept)
	require.Equal(t, "changed 0 of 4 files\nskipped 4 files with //epicycle:keep\n", summary(t))
	require.Equal(t, "changed 0 of 4 files\nskipped 4 files with //epicycle:keep\n", summary(t, "-back"))
	require.Equal(t, kept, contents(t))
	write(t, map[string]string{
		"a.go": "// //epicycle:keep\n" + usesTime,
		"b.go": "//epicycle:keeper\n" + usesTime,
		"c.go": "/*\n//epicycle:keep\n*/\n" + usesTime,
		"d.go": usesTime + "\n//epicycle:keep\n",
	})
	require.Equal(t, "changed 4 of 4 files\n", summary(t))
}

// The file that a symbolic link leads to is changed only where it is found, or if the link is named.
func TestLinks(t *testing.T) {
	write(t, map[string]string{"elsewhere/a.go": usesTime, "here/b.go": usesTime})
	if err := os.Symlink("../elsewhere/a.go", "here/a.go"); err != nil {
		t.Skip(err)
	}
	require.NoError(t, os.Symlink("here", "there"))
	require.Equal(t, "would change here/b.go\nskipped here/a.go: a symbolic link: name it to change the file\n"+
		"would change 1 of 1 file\nskipped 1 symbolic link\n", call(t, "-n", "here/..."))
	require.Equal(t, "would change 1 of 1 file\nskipped 1 symbolic link\n", summary(t, "-n", "there"))
	require.Equal(t, "changed elsewhere/a.go\nchanged 1 of 1 file\n", call(t, "here/a.go", "elsewhere/a.go"))
	info, err := os.Lstat("here/a.go")
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	require.Contains(t, contents(t)["elsewhere/a.go"], ours)
}
