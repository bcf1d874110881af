package main

import (
	"go/ast"
	"go/token"
)

// lookAt finds code that may not compile, or may mean something else, once compat/time replaces package time. The file
// uses package time by the given name. Timer and Ticker are different types there.
func lookAt(files *token.FileSet, parsed *ast.File, name string) (notes []string) {
	if name == "." {
		return []string{note(files, parsed.Name, `package time is imported with ".": look at each Timer and Ticker`)}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, field := range fields(n) {
				if t := timeName(field.Type, name); isTimer(t) {
					notes = append(notes, note(files, field, "a "+t+" in a signature: who calls or implements it must import the same package"))
				}
			}
		case *ast.CompositeLit:
			if t := timeName(n.Type, name); isTimer(t) {
				notes = append(notes, note(files, n, "a literal "+t+": ours can't be compared, or used without its constructor"))
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if timeName(left, name) == "Local" {
					notes = append(notes, note(files, n, "Local is assigned to: assign to that of the standard library"))
				}
			}
		}
		return true
	})
	return notes
}

// timeName returns the name that the type n, or the type it points to, has in package time, which the file knows as
// pkg. It returns "" if the type is of another package.
func timeName(n ast.Expr, pkg string) string {
	if s, ok := n.(*ast.StarExpr); ok {
		n = s.X
	}
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
			return s.Sel.Name
		}
	}
	return ""
}

func isTimer(name string) bool { return name == "Timer" || name == "Ticker" }

// fields returns the parameters and the results of a function.
func fields(f *ast.FuncType) (all []*ast.Field) {
	for _, list := range []*ast.FieldList{f.Params, f.Results} {
		if list != nil {
			all = append(all, list.List...)
		}
	}
	return all
}
