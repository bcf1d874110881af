package planted

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const counter = `package p

type counter[T any] struct{ n, most int }

func (c *counter[T]) add(by int) {
	if c.n+by > c.most { // it is full
		return
	}
	c.n += by
}

func other(c *counter[int]) { c.n++ }

const limit = 3
`

// fullCounter counts up to one more than it may.
var fullCounter = bug{
	name: "full-counter", dir: "p", in: "counter.add", test: []string{"./p"},
	old: "	if c.n+by > c.most {\n		return\n", new: "	if c.n+by > c.most+1 {\n		return\n",
}

// rootWith makes a repository that has files in the package p.
func rootWith(t *testing.T, files ...string) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "p"), 0o700))
	for i, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p", string(rune('a'+i))+".go"), []byte(text), 0o600))
	}
	return dir
}

// Comments, format and files don't matter, nor where in the package the code is, nor what it is called, if one
// place alone is like it.
func TestMutantSurvivesChanges(t *testing.T) {
	for name, c := range map[string]struct{ code, mutated string }{
		"as it was":      {counter, "if c.n+by > c.most+1 {\n\t\treturn\n"},
		"another format": {"package p\r\n\r\nfunc (c *counter[T]) add() { if c.n +\r\n by > c.most {\r\n return }}", "if c.n+by > c.most+1 {\n\t\treturn\n"},
		"comments":       {"package p\nfunc (c counter) add() {\n\tif c.n /* so far */ +by > c.most {\n\t\t// enough\n\t\treturn\n\t}\n}", "if c.n+by > c.most+1 {"},
		"function":       {"package p\nfunc (c *counter[T]) count() {\n\tif c.n+by > c.most {\n\t\treturn\n\t}\n}", "if c.n+by > c.most+1 {"},
		"one name":       {"package p\nfunc (x *counter[T]) add() {\n\tif x.n+by > x.most {\n\t\treturn\n\t}\n}", "if x.n+by > x.most+1 {"},
		"two names":      {"package p\nfunc (x *counter[T]) add() {\n\tif x.n+more > x.most {\n\t\treturn\n\t}\n}", "if x.n+more > x.most+1 {"},
		"both":           {"package p\nfunc (x *counter[T]) count() {\n\tif x.n+by > x.most {\n\t\treturn\n\t}\n}", "if x.n+by > x.most+1 {"},
	} {
		t.Run(name, func(t *testing.T) {
			file, text, err := fullCounter.mutant(newTree(rootWith(t, "package p\n", c.code)))
			require.NoError(t, err)
			require.Equal(t, "b.go", filepath.Base(file))
			require.Contains(t, text, c.mutated)
		})
	}
}

// An entry fits nowhere if it is not clear where.
func TestMutantFitsOnce(t *testing.T) {
	twice := "package p\nfunc a() {\n\tif c.n+by > c.most {\n\t\treturn\n\t}\n}\nfunc b() {\n\tif c.n+by > c.most {\n\t\treturn\n\t}\n}"
	for name, c := range map[string]struct{ code, problem string }{
		"gone":             {"package p\n", "is not there"},
		"changed":          {"package p\nfunc (c *counter[T]) add() {\n\tif c.n+by >= c.most {\n\t\treturn\n\t}\n}", "is not there"},
		"few names":        {"package p\nfunc (c *counter[T]) add() {\n\tif x.y+z > x.most {\n\t\treturn\n\t}\n}", "is not there"},
		"names are mixed":  {"package p\nfunc (c *counter[T]) add() {\n\tif c.n+by > d.most {\n\t\treturn\n\t}\n}", "is not there"},
		"names are merged": {"package p\nfunc (c *counter[T]) add() {\n\tif c.n+n > c.most {\n\t\treturn\n\t}\n}", "is not there"},
		"moved to two":     {twice, "2 times"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := fullCounter.mutant(newTree(rootWith(t, c.code)))
			require.ErrorContains(t, err, "full-counter: p counter.add: the old text")
			require.ErrorContains(t, err, c.problem)
		})
	}
	_, _, err := fullCounter.mutant(newTree(rootWith(t, counter, twice)))
	require.NoError(t, err, "the function decides")
	_, _, err = fullCounter.mutant(newTree(rootWith(t, "package")))
	require.ErrorContains(t, err, "a.go")
}

// Types, variables and constants have bugs, too, and so has what is between declarations.
func TestDeclarations(t *testing.T) {
	for in, code := range map[string]string{"limit": "limit = 3", "counter": "n, most int", "other": "c.n++", "": "package p"} {
		b := bug{name: "x", dir: "p", in: in, old: code, new: "it"}
		_, text, err := b.mutant(newTree(rootWith(t, counter)))
		require.NoError(t, err)
		require.NotContains(t, text, code)
	}
}

// An entry that fits by other names, or elsewhere, is written as the code is.
func TestUpdate(t *testing.T) {
	dir := rootWith(t, "package p\nfunc (x *counter[T]) count() {\n\tif x.n+by > x.most {\n\t\treturn\n\t}\n}")
	list := t.TempDir()
	file := filepath.Join(list, "full-counter.txt")
	entry := "It is wrong.\n\nin: p counter.add\ntest: ./p\n\n=== old\n" + fullCounter.old + "=== new\n" + fullCounter.new
	require.NoError(t, os.WriteFile(file, []byte(entry), 0o600))
	b, err := parse(entry)
	b.name = "full-counter"
	require.NoError(t, err)
	require.NoError(t, updateAll(newTree(dir), list, []bug{b}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "It is wrong.\n\nin: p counter.count\ntest: ./p\n\n=== old\n	if x.n+by > x.most {\n		return\n"+
		"=== new\n	if x.n+by > x.most+1 {\n		return\n", string(text))
	b, err = parse(string(text))
	require.NoError(t, err)
	require.NoError(t, updateAll(newTree(dir), list, []bug{b}), "nothing is left to do")
	require.Error(t, updateAll(newTree(dir), list, []bug{{name: "gone", dir: "p", in: "x", old: "gone"}}))
}
