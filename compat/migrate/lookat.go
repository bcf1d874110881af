package main

import (
	"go/ast"
	"go/token"
	"slices"
)

// lookAt finds code that may not compile, or may mean something else, once compat/time replaces package time. The file
// uses package time by the given name. Timer and Ticker are different types there, and Local and UTC other variables.
func lookAt(s source, name string) []string {
	if name == "." {
		return []string{s.note(s.parsed.Name, `package time is imported with ".": look at each Timer and Ticker`)}
	}
	l := looker{source: s, time: name, called: map[ast.Node]bool{}}
	for _, decl := range s.parsed.Decls {
		l.variables(decl)
		ast.Inspect(decl, func(n ast.Node) bool {
			l.types(n)
			l.values(n)
			return true
		})
	}
	return l.notes
}

type looker struct {
	source
	time   string            // the name of package time
	called map[ast.Node]bool // functions that are called, as opposed to used as values
	notes  []string
}

// types looks at places where types are declared.
func (l *looker) types(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncType:
		for _, field := range fields(n) {
			l.found(field, field.Type, "in a signature: who calls or implements it must import the same package")
		}
	case *ast.InterfaceType:
		for _, field := range n.Methods.List {
			if len(field.Names) == 0 {
				l.found(field, field.Type, "in a type set: who instantiates it must import the same package")
			}
		}
	case *ast.StructType:
		for _, field := range n.Fields.List {
			l.field(field)
		}
	case *ast.TypeSpec:
		switch n.Type.(type) {
		case *ast.StructType, *ast.InterfaceType, *ast.FuncType: // looked at themselves
		default:
			l.found(n, n.Type, "has a name here: who uses it must import the same package")
		}
	}
}

func (l *looker) field(field *ast.Field) {
	exported := len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported)
	switch t := ast.Unparen(field.Type).(type) {
	case *ast.FuncType: // looked at itself
	case *ast.SelectorExpr:
		l.found(field, t, "in a struct, not a pointer: ours can't be used without its constructor")
	default:
		if exported {
			l.found(field, t, "in an exported field: who uses it must import the same package")
		}
	}
}

// values looks at expressions and statements.
func (l *looker) values(n ast.Node) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if t := l.nameOf(n.Type); isTimer(t) {
			l.add(n, "a literal "+t+": ours can't be used without its constructor")
		}
	case *ast.TypeAssertExpr:
		l.found(n, n.Type, "in a type assertion: one of package time does not match")
	case *ast.TypeSwitchStmt:
		for _, clause := range n.Body.List {
			for _, t := range clause.(*ast.CaseClause).List {
				l.found(t, t, "in a type switch: one of package time does not match")
			}
		}
	case *ast.CallExpr:
		l.call(n)
	case *ast.SelectorExpr:
		l.selector(n)
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if v := l.nameOf(left); isVariable(v) {
				l.add(n, v+" is assigned to: assign to that of package time, and use that, since ours does not follow")
			}
		}
	case *ast.UnaryExpr:
		if v := l.nameOf(n.X); n.Op == token.AND && isVariable(v) {
			l.add(n, "the address of "+v+": what is assigned through it does not change that of package time")
		}
	}
}

// call looks at what only looks like a call, and at those that depend on a type.
func (l *looker) call(n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	l.called[fun] = true
	switch f := fun.(type) {
	case *ast.Ident:
		if len(n.Args) == 1 && f.Name == "new" && isTimer(l.nameOf(n.Args[0])) {
			l.found(n, n.Args[0], "that is new: ours can't be used without its constructor")
		}
	case *ast.IndexExpr:
		l.found(n, f.Index, "as a type argument: what it is compared with must be of the same package")
	case *ast.IndexListExpr:
		for _, t := range f.Indices {
			l.found(n, t, "as a type argument: what it is compared with must be of the same package")
		}
	case *ast.StarExpr, *ast.ArrayType, *ast.MapType, *ast.ChanType:
		l.found(n, fun, "in a conversion: one of package time can't be converted")
	}
}

func (l *looker) selector(n *ast.SelectorExpr) {
	if t := l.nameOf(ast.Unparen(n.X)); isTimer(t) {
		l.add(n, "a method of "+t+" as a function: who calls it must import the same package")
	}
	if f := l.nameOf(n); isConstructor(f) && !l.called[n] {
		l.add(n, f+" as a value: it returns ours")
	}
}

// variables looks at exported variables of the package.
func (l *looker) variables(decl ast.Decl) {
	group, ok := decl.(*ast.GenDecl)
	if !ok || group.Tok != token.VAR {
		return
	}
	for _, spec := range group.Specs {
		spec := spec.(*ast.ValueSpec)
		if !slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) {
			continue
		}
		const why = "in an exported variable: who uses it must import the same package"
		l.found(spec, spec.Type, why)
		for _, value := range spec.Values {
			if c, ok := value.(*ast.CallExpr); ok && isConstructor(l.nameOf(c.Fun)) {
				l.add(spec, "what "+l.nameOf(c.Fun)+" returns "+why)
			}
		}
	}
}

// found adds a note about n if Timer or Ticker occur in the type t.
func (l *looker) found(n ast.Node, t ast.Expr, why string) {
	if t == nil {
		return
	}
	ast.Inspect(t, func(in ast.Node) bool {
		if e, ok := in.(*ast.SelectorExpr); ok && isTimer(l.nameOf(e)) {
			l.add(n, "a "+e.Sel.Name+" "+why)
		}
		return true
	})
}

// add adds a note, once for each line.
func (l *looker) add(n ast.Node, text string) {
	if note := l.note(n, text); !slices.Contains(l.notes, note) {
		l.notes = append(l.notes, note)
	}
}

// nameOf returns the name in package time of the expression n, or of what it points to. It returns "" if n is of
// another package.
func (l *looker) nameOf(n ast.Expr) string {
	if n == nil {
		return ""
	}
	n = ast.Unparen(n)
	if p, ok := n.(*ast.StarExpr); ok {
		n = p.X
	}
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == l.time {
			return s.Sel.Name
		}
	}
	return ""
}

func isTimer(name string) bool { return name == "Timer" || name == "Ticker" }

func isVariable(name string) bool { return name == "Local" || name == "UTC" }

func isConstructor(name string) bool {
	return name == "NewTimer" || name == "NewTicker" || name == "AfterFunc"
}

// fields returns the type parameters, the parameters and the results of a function.
func fields(f *ast.FuncType) (all []*ast.Field) {
	for _, list := range []*ast.FieldList{f.TypeParams, f.Params, f.Results} {
		if list != nil {
			all = append(all, list.List...)
		}
	}
	return all
}
