package main

import (
	"go/ast"
	"go/token"
)

// lookAt finds what may not compile, or mean something else, once package time, which the file
// knows by that name, is ours. A Timer and a Ticker are other types than package time's there.
func lookAt(files *token.FileSet, parsed *ast.File, name string) (notes []string) {
	if name == "." {
		return []string{note(files, parsed.Name, `package time is imported with ".": look at each Timer and Ticker`)}
	}
	typeOf := func(n ast.Expr) string {
		if s, ok := n.(*ast.StarExpr); ok {
			n = s.X
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == name {
				return s.Sel.Name
			}
		}
		return ""
	}
	isTimer := func(n ast.Expr) bool { t := typeOf(n); return t == "Timer" || t == "Ticker" }
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, list := range []*ast.FieldList{n.Params, n.Results} {
				if list == nil {
					continue
				}
				for _, field := range list.List {
					if isTimer(field.Type) {
						notes = append(notes, note(files, field, "a "+typeOf(field.Type)+" in a signature: who calls or implements it must import the same package"))
					}
				}
			}
		case *ast.CompositeLit:
			if isTimer(n.Type) {
				notes = append(notes, note(files, n, "a literal "+typeOf(n.Type)+": ours can't be compared, or used without its constructor"))
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if typeOf(left) == "Local" {
					notes = append(notes, note(files, n, "Local is assigned to: assign to that of the standard library"))
				}
			}
		}
		return true
	})
	return notes
}
