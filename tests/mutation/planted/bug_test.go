package planted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const entry = "It is\nwrong: very.\n\nin: p/q T.F\ntest: ./p -run 'A B|C' -short\nci: yes\nos: linux\n\n" +
	"=== old\n\told\n\n=== new\n\tnew\n\tline\n"

func TestParse(t *testing.T) {
	want := bug{
		about: "It is wrong: very.", dir: "p/q", in: "T.F", test: []string{"./p", "-run", "A B|C", "-short"},
		ci: true, os: "linux", old: "\told\n", new: "\tnew\n\tline",
	}
	for _, text := range []string{entry, strings.ReplaceAll(entry, "\n", "\r\n")} {
		b, err := parse(text)
		require.NoError(t, err)
		require.Equal(t, want, b)
	}
	nothing, err := parse("a line goes\nfile: f\ntest: x\n=== old\nold\n=== new\n")
	require.NoError(t, err)
	require.Equal(t, "f", nothing.file)
	require.Equal(t, "old", nothing.old)
	require.Empty(t, nothing.new)
}

func TestParseBadEntries(t *testing.T) {
	for part, problem := range map[string]string{
		"It is\nwrong: very.":      "doesn't say what is wrong",
		"in: p/q T.F":              `"in: " or "file: " is missing`,
		"test: ./p -run 'A B|C' -": `"test: " is missing`,
		"=== old\n":                "are missing",
		"=== new\n":                "are missing",
		"\told\n":                  "old text is empty",
	} {
		text := strings.Replace(entry, part, "", 1)
		if part[0] == 't' {
			text = strings.Replace(text, "short\n", "\n", 1)
		}
		_, err := readBugs(fstest.MapFS{"bad.txt": {Data: []byte(text)}})
		require.ErrorContains(t, err, "bad: ", part)
		require.ErrorContains(t, err, problem, part)
	}
	_, err := parse("a\nfile: f\ntest: x\n=== old\nsame\n=== new\nsame\n")
	require.ErrorContains(t, err, "the new text is the old one")
	_, err = parse("a\nfile: f.go\ntest: x\n=== old\na\n=== new\nb\n")
	require.ErrorContains(t, err, `for Go the line is "in: "`)
}

// A file that is not Go must have the old text exactly once.
func TestMutantOfText(t *testing.T) {
	b := bug{name: "name", file: "p/p.js", old: "a\n", new: ""}
	for code, want := range map[string]string{"b\na\nc": "b\nc", "a\r\nb": "b", "b\n": "", "a\na\n": ""} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "p"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p", "p.js"), []byte(code), 0o600))
		_, got, err := b.mutant(newTree(dir))
		require.Equal(t, want, got)
		if want == "" {
			require.ErrorContains(t, err, "name: p/p.js")
			require.ErrorContains(t, err, "update the entry")
		}
	}
	_, _, err := b.mutant(newTree(t.TempDir()))
	require.ErrorContains(t, err, "name: ")
}

// The module of code is the nearest directory above it that has a go.mod.
func TestModule(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700))
	for _, name := range []string{"go.mod", filepath.Join("a", "b", "go.mod")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for in, want := range map[string]string{".": ".", "a": ".", "a/b": "a/b", "a/b/c": "a/b", "a/c": "."} {
		require.Equal(t, want, (&bug{dir: in}).module(dir), in)
		require.Equal(t, want, (&bug{file: in + "/x.js"}).module(dir), in)
	}
}

func TestChosen(t *testing.T) {
	all := []bug{{name: "a-x"}, {name: "a"}, {name: "b", ci: true}, {name: "c"}}
	for only, want := range map[string][]bug{"": all, "b": all[2:3], "c, a": {all[1], all[3]}, "a*": all[:2], "*x, a-*": all[:1]} {
		got, err := chosen(all, only, false)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, err := chosen(all, "", true)
	require.NoError(t, err)
	require.Equal(t, all[2:3], got)
	_, err = chosen(all, "a,x*", false)
	require.ErrorContains(t, err, `there is no bug "x*"`)
	_, err = chosen(all, ",", false)
	require.ErrorContains(t, err, "no bug is chosen")

	require.Empty(t, badUsage("a", false, nil))
	require.Contains(t, badUsage("a", true, nil), "exclude each other")
	require.Contains(t, badUsage("", false, []string{"a"}), "unexpected arguments")
}
