package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// place is how docs/design.md says where something happens.
var place = regexp.MustCompile("`(\\w+)\\.(\\w+)` in `([\\w/]+\\.go)`")

// Each method that the design page names exists, in the file that it names.
func TestDesignPageNamesWhatExists(t *testing.T) {
	page, err := os.ReadFile("../docs/design.md")
	require.NoError(t, err)
	named := place.FindAllStringSubmatch(string(page), -1)
	require.GreaterOrEqual(t, len(named), 15)
	for _, n := range named {
		require.Contains(t, methodsOf(t, "../"+n[3]), n[1]+"."+n[2], n[3])
	}
}

// methodsOf is the methods that a file declares, as Type.Method.
func methodsOf(t *testing.T, file string) (methods []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
			methods = append(methods, receiver(fn.Recv.List[0].Type)+"."+fn.Name.Name)
		}
	}
	return methods
}

// receiver is the name of a receiver's type, without pointer and parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
