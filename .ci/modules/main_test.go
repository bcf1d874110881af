package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/dirhash"
)

// repo makes a repository of two modules, the first of which requires the second, and one that is not published.
func repo(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":       "free\n",
		"go.mod":        "module example.com/top\n\ngo 1.25\n",
		"go.sum":        "",
		"top.go":        "package top\n",
		"a/go.mod":      "module example.com/top/a\n\ngo 1.25\n\nrequire (\n\texample.com/top v0.0.0\n\texample.com/top/b v0.0.0 // indirect\n\texample.org/z v1.0.0\n)\n\nreplace example.com/top => ..\n\nreplace example.com/top/b => ../b\n",
		"a/go.sum":      "example.org/z v1.0.0 h1:x=\nexample.org/z v1.0.0/go.mod h1:y=\n",
		"a/a.go":        "package a\n",
		"b/go.mod":      "module example.com/top/b\n\ngo 1.25\n\nrequire example.com/top v0.0.0\n\nreplace example.com/top => ..\n",
		"b/go.sum":      "",
		"tests/go.mod":  "module example.com/top/tests\n",
		"tests/go.sum":  "",
		"unpublished.s": "",
	} {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	for _, args := range []string{"init -q", "add .", "rm -q --cached unpublished.s",
		"-c user.name=x -c user.email=x@localhost commit -q -m x --date=@1000000000"} {
		t.Setenv("GIT_COMMITTER_DATE", "@1000000000 +0200")
		_, err := git(dir, strings.Fields(args)...)
		require.NoError(t, err)
	}
	return dir
}

func read(t *testing.T, names ...string) string {
	text, err := os.ReadFile(filepath.Join(names...))
	require.NoError(t, err)
	return string(text)
}

// zipped returns the files of a zip.
func zipped(t *testing.T, name string) map[string]string {
	r, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer r.Close()
	all := make(map[string]string)
	for _, f := range r.File {
		in, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		all[f.Name] = string(text)
	}
	return all
}

func TestModulesRequireEachOther(t *testing.T) {
	dir, proxy := repo(t), t.TempDir()
	var tags bytes.Buffer
	require.NoError(t, run([]string{"-repo", dir, "-version", "v0.2.0", "-proxy", proxy}, &tags))
	require.Equal(t, "v0.2.0\nb/v0.2.0\na/v0.2.0\n", tags.String())

	at := filepath.Join(proxy, "example.com/top/a/@v")
	mod := read(t, at, "v0.2.0.mod")
	require.Equal(t, "module example.com/top/a\n\ngo 1.25\n\nrequire (\n\texample.com/top v0.2.0\n\texample.com/top/b v0.2.0 // indirect\n\texample.org/z v1.0.0\n)\n", mod)
	require.Equal(t, mod, read(t, dir, "a/go.mod"))
	require.Equal(t, "v0.2.0\n", read(t, at, "list"))
	require.JSONEq(t, `{"Version": "v0.2.0", "Time": "2001-09-09T01:46:40Z"}`, read(t, at, "v0.2.0.info"))

	lines := strings.Split(read(t, dir, "a/go.sum"), "\n")
	require.Len(t, lines, 7)
	sum, err := dirhash.HashZip(filepath.Join(proxy, "example.com/top/@v/v0.2.0.zip"), dirhash.Hash1)
	require.NoError(t, err)
	require.Equal(t, "example.com/top v0.2.0 "+sum, lines[0])
	sum, err = dirhash.HashZip(filepath.Join(proxy, "example.com/top/b/@v/v0.2.0.zip"), dirhash.Hash1)
	require.NoError(t, err)
	require.Equal(t, "example.com/top/b v0.2.0 "+sum, lines[2])
	require.Equal(t, "example.org/z v1.0.0 h1:x=", lines[4])

	const prefix = "example.com/top/a@v0.2.0/"
	require.Equal(t, map[string]string{prefix + "LICENSE": "free\n", prefix + "go.mod": mod, prefix + "a.go": "package a\n",
		prefix + "go.sum": read(t, dir, "a/go.sum")}, zipped(t, filepath.Join(at, "v0.2.0.zip")))
	top := zipped(t, filepath.Join(proxy, "example.com/top/@v/v0.2.0.zip"))
	require.Len(t, top, 4, "neither other modules nor what git does not hold")
	require.NoFileExists(t, filepath.Join(proxy, "example.com/top/tests/@v/list"))
}

func TestNotPublished(t *testing.T) {
	for mod, want := range map[string]string{
		"module example.com/top\n\nreplace example.org/z => ../z\n":                                        "replaces example.org/z",
		"module example.com/top\n\nrequire example.com/top/b v0.0.0\n\nreplace example.com/top/b => ./b\n": "requires itself",
	} {
		dir := repo(t)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666))
		require.ErrorContains(t, run([]string{"-repo", dir, "-version", "v0.2.0", "-proxy", t.TempDir()}, io.Discard), want)
	}
	require.ErrorContains(t, run([]string{"-repo", repo(t), "-version", "v2.0.0", "-proxy", t.TempDir()}, io.Discard), "v2")
}
