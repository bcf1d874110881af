package api

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
)

// Differences compares the exported names of a package of the standard library with those of the package in dir: their
// kinds, types, signatures and values. Types must be identical, but types in own need only have the same fields and
// methods. Other names in own may be missing in the standard library.
func Differences(path, dir string, own ...string) ([]string, error) {
	if _, err := Standard(path); err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "source", nil)
	theirs, err := from.Import(path)
	if err != nil {
		return nil, err
	}
	ours, err := check(fset, from, dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range theirs.Scope().Names() {
		if a, b := theirs.Scope().Lookup(name), ours.Scope().Lookup(name); a.Exported() {
			found = append(found, differences(a, b, slices.Contains(own, name))...)
		}
	}
	for _, name := range ours.Scope().Names() {
		if token.IsExported(name) && theirs.Scope().Lookup(name) == nil && !slices.Contains(own, name) {
			found = append(found, name+": not in package "+path)
		}
	}
	return found, nil
}

// check returns the package in dir, with all types.
func check(fset *token.FileSet, from types.Importer, dir string) (*types.Package, error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	cfg := types.Config{Importer: from, IgnoreFuncBodies: true}
	return cfg.Check(dir, fset, files, nil)
}

// differences compares two objects of the same name. ours may be nil.
func differences(theirs, ours types.Object, own bool) (found []string) {
	if ours == nil {
		return []string{theirs.Name() + ": missing"}
	}
	if _, isType := theirs.(*types.TypeName); isType && !own && !types.Identical(theirs.Type(), ours.Type()) {
		return []string{theirs.Name() + ": another type"}
	}
	for i, want := range describe(theirs) {
		got := describe(ours)
		if i >= len(got) || got[i] != want {
			found = append(found, fmt.Sprintf("%s: %v instead of %v", theirs.Name(), got, want))
		}
	}
	return found
}

// describe returns what can be compared about an object. Names of packages are left out, since our Timer is not
// package time's.
func describe(o types.Object) []string {
	bare := func(*types.Package) string { return "" }
	switch o := o.(type) {
	case *types.Const:
		return []string{"const", types.TypeString(o.Type(), bare), o.Val().ExactString()}
	case *types.TypeName:
		return append([]string{"type"}, members(o.Type(), bare)...)
	default: // a func has its parameters' names in its text
		return []string{fmt.Sprintf("%T", o), types.TypeString(o.Type(), bare)}
	}
}

// members returns the exported fields and methods of a type.
func members(t types.Type, bare types.Qualifier) (found []string) {
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				found = append(found, "field "+types.ObjectString(f, bare))
			}
		}
	}
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if m.Obj().Exported() {
			found = append(found, m.Obj().Name()+types.TypeString(m.Type(), bare))
		}
	}
	return found
}
