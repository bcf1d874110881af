package planted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An entry fits if its code and its tests are there, and the module of its code has no list of its own.
func TestMisfits(t *testing.T) {
	root, list := t.TempDir(), t.TempDir()
	write(t, root, "p/p.go", counter)
	write(t, root, "p/p_test.go", "package p\n\nfunc TestAdd(t *testing.T) {}\n")
	write(t, root, "nested/deeper/go.mod", "")
	write(t, root, "nested/deeper/a.js", "a")
	entry := "It is wrong.\n\nin: p counter.add\ntest: ./p -run TestAdd\n\n=== old\nc.n += by\n=== new\nc.n -= by\n"
	write(t, list, "a.txt", entry)
	write(t, list, "b.txt", "It is wrong.\n\nfile: nested/deeper/a.js\ntest: .\n\n=== old\na\n=== new\nb\n")
	require.Empty(t, Misfits(root, list))
	write(t, root, "other/q/q_test.go", "package q\n\nfunc TestSub(t *testing.T) {}\n")
	write(t, list, "c.txt", strings.Replace(entry, "test: ./p -run TestAdd", "module: other\ntest: ./q -run 'TestSub|TestAdd'", 1))
	problems := Misfits(root, list)
	require.Len(t, problems, 1)
	require.EqualError(t, problems[0], "c: no test is called TestAdd")
	require.NoError(t, os.Remove(filepath.Join(list, "c.txt")))

	write(t, root, "nested/mutation/bugs/any.txt", "")
	problems = Misfits(root, list)
	require.Len(t, problems, 1)
	require.EqualError(t, problems[0], "b: it belongs into the list nested/mutation/bugs")
	require.NoError(t, os.Remove(filepath.Join(list, "b.txt")))

	write(t, root, "p/p_test.go", "package p\n\nfunc TestSub(t *testing.T) {}\n")
	write(t, root, "p/p.go", "package p\n")
	problems = Misfits(root, list)
	require.Len(t, problems, 2)
	require.ErrorContains(t, problems[0], "the old text is not there")
	require.EqualError(t, problems[1], "a: no test is called TestAdd")

	write(t, list, "a.txt", "nothing")
	require.Len(t, Misfits(root, list), 1)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}
