package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// place is how the page says where something happens.
var place = regexp.MustCompile("`(\\w+)\\.(\\w+)` in `([\\w/]+\\.go)`")

// Each method that the design page names exists, in the file that it names, and it has all packages.
func TestDesignPage(t *testing.T) {
	page, err := os.ReadFile("../../DESIGN.md")
	require.NoError(t, err)
	named := place.FindAllStringSubmatch(string(page), -1)
	require.GreaterOrEqual(t, len(named), 30)
	for _, n := range named {
		require.Contains(t, methodsOf(t, "../"+n[3]), n[1]+"."+n[2], n[3])
	}
	packages, err := filepath.Glob("../*")
	require.NoError(t, err)
	for _, p := range packages {
		require.Contains(t, string(page), "| `"+filepath.Base(p)+"` |")
	}
}

// methodsOf returns the methods that a file declares, as Type.Method.
func methodsOf(t *testing.T, file string) (all []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
			of := fn.Recv.List[0].Type
			if pointer, ok := of.(*ast.StarExpr); ok {
				of = pointer.X
			}
			all = append(all, of.(*ast.Ident).Name+"."+fn.Name.Name)
		}
	}
	return all
}
