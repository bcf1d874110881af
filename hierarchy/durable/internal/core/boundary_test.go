package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forbidden are the packages that the core does without, with all below them.
var forbidden = []string{
	"context", "io", "log", "net", "os", "sync", "syscall",
	"github.com/epicycle-go/epicycle/clock",
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage",
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait",
}

// clocks are the functions of package time that read the clock, or wait.
var clocks = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// The core has no goroutine, channel, lock, clock, context or I/O.
func TestBoundary(t *testing.T) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	require.NotEmpty(t, names)
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		require.Empty(t, trespasses(f), name)
	}
}

// TestBoundary finds what it looks for.
func TestTrespasses(t *testing.T) {
	const source = `package p
import ("context"; "sync/atomic"; "time"; "net/http"; "slices")
func f() { go f(); time.Now(); _ = time.Second; var c chan int; _ = time.AfterFunc; time.Unix(0, 0) }`
	f, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"context", "sync/atomic", "net/http", "go", "time.Now", "chan", "time.AfterFunc"}, trespasses(f))
}

// trespasses returns what a file has that the core does without.
func trespasses(f *ast.File) (found []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if path, _ := strconv.Unquote(n.Path.Value); isForbidden(path) {
				found = append(found, path)
			}
		case *ast.GoStmt:
			found = append(found, "go")
		case *ast.ChanType:
			found = append(found, "chan")
		case *ast.SelectorExpr:
			if in, ok := n.X.(*ast.Ident); ok && in.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
				found = append(found, "time."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

func isForbidden(path string) bool {
	return slices.ContainsFunc(forbidden, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}
