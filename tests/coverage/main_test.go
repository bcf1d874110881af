package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFunctionsAsPrinted(t *testing.T) {
	f, err := parseFunctions("example.org/m/clock/mock.go:67:\tisMock\t\t0.0%\n" +
		"example.org/m/clock/mock.go:93:\tAdd\t\t60.5%\ntotal:\t(statements)\t97.5%\n")
	require.NoError(t, err)
	require.Equal(t, 97.5, f.total)
	require.Equal(t, map[string]float64{"clock/mock.go:67": 0, "clock/mock.go:93": 60.5}, f.ran)
	for _, bad := range []string{"", "three words only here", "a b c"} {
		_, err := parseFunctions(bad)
		require.Error(t, err, bad)
	}
}

func TestUntestedNames(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("p", 0o755))
	write(t, "p/p.go", `package p
type T[K any] struct{ Seen, Unseen int; hidden int }
type hidden struct{ Unseen int }
func (t *T[K]) Ran() { return }
func (t *T[K]) Never() { return }
func (h hidden) Never() { return }
func inside() { return }
const Constant = 1
`)
	write(t, "p/p_test.go", "package p\nvar _ = T[int]{Seen: 1}\n")
	missing, err := untested("p", &functions{ran: map[string]float64{
		"p/p.go:4": 50, "p/p.go:5": 0, "p/p.go:6": 0, "p/p.go:7": 0,
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"p.Constant", "p.T.Never", "p.Unseen"}, missing)
}

func write(t *testing.T, name, text string) {
	_, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.FromSlash(name), []byte(text), 0o600))
}
