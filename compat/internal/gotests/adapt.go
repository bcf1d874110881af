package gotests

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cut is a piece of a file, and the text that replaces it.
type cut struct {
	from, to int
	text     string
}

// adapt changes the imports of a file and removes the tests and functions that the suite leaves out. It returns the new
// text and the names of the tests that remain.
func (s Suite) adapt(name string, text []byte) (adapted []byte, tests []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	var cuts []cut
	used := map[string]bool{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		switch {
		case ok && fn.Recv == nil && s.leavesOut(fn.Name.Name):
			cuts = append(cuts, cut{at(start(fn)), at(fn.End()), ""})
			continue
		case ok && fn.Recv == nil && isTest(fn):
			tests = append(tests, fn.Name.Name)
		}
		noteUsed(d, used)
	}
	for _, spec := range f.Imports {
		cuts = append(cuts, cut{at(spec.Path.Pos()), at(spec.Path.End()), s.instead(spec, used)})
	}
	text = apply(text, cuts)
	for from, to := range s.Edits {
		text = bytes.ReplaceAll(text, []byte(from), []byte(to))
	}
	return text, tests, nil
}

// instead returns the path that replaces the path of an import.
func (s Suite) instead(spec *ast.ImportSpec, used map[string]bool) string {
	importPath, _ := strconv.Unquote(spec.Path.Value) // the parser has seen it
	text := spec.Path.Value
	if other, ok := s.Imports[importPath]; ok {
		text = strconv.Quote(other)
	}
	if spec.Name == nil && !used[path.Base(importPath)] {
		text = "_ " + text // nothing that is left uses the import
	}
	return text
}

func (s Suite) leavesOut(name string) bool {
	_, leftOut := s.LeftOut[name]
	return leftOut || slices.Contains(s.Cut, name)
}

func isTest(fn *ast.FuncDecl) bool {
	return strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain"
}

// start returns the position at which a func, with its comment, begins.
func start(fn *ast.FuncDecl) token.Pos {
	if fn.Doc != nil {
		return fn.Doc.Pos()
	}
	return fn.Pos()
}

// noteUsed records the packages that d may refer to.
func noteUsed(d ast.Decl, used map[string]bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
}

// apply puts the cuts in place.
func apply(text []byte, cuts []cut) []byte {
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var out []byte
	end := 0
	for _, c := range cuts {
		out = append(out, text[end:c.from]...)
		out = append(out, c.text...)
		end = c.to
	}
	return append(out, text[end:]...)
}
