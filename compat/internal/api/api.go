// Package api lists the exported names of packages of the standard library, as the source of
// the Go that runs has them. It is for the generator of compat/time and compat/context, and
// for tests.
package api

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Package is the exported names of a package.
type Package struct {
	Path  string
	Names []Name // sorted by kind, and as declared
}

// Name is an exported name.
type Name struct {
	Name      string
	Kind      string   // const, var, type or func
	Signature string   // of a func: parameters and results
	args      string   // of a func: arguments with which to call it from a func with the same parameters
	results   bool     // of a func: whether it has results
	imports   []string // paths of the packages that Signature needs
}

// ErrNoSource means that the source of the standard library is not there.
var ErrNoSource = errors.New("the source of the standard library is not there")

// Standard lists a package of the standard library.
func Standard(path string) (*Package, error) {
	dir := filepath.Join(build.Default.GOROOT, "src", path)
	p, err := build.ImportDir(dir, 0)
	if build.Default.GOROOT == "" || err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	return list(path, dir, p.GoFiles)
}

// Declared lists the names that the package in dir declares, in files without tests that Go
// 1.minor builds.
func Declared(dir string, minor int) (*Package, error) {
	ctx := build.Default
	ctx.ReleaseTags = nil
	for i := 1; i <= minor; i++ {
		ctx.ReleaseTags = append(ctx.ReleaseTags, fmt.Sprintf("go1.%d", i))
	}
	p, err := ctx.ImportDir(dir, 0)
	if none := (*build.NoGoError)(nil); err != nil && !errors.As(err, &none) {
		return nil, err
	}
	return list("", dir, p.GoFiles)
}

var version = regexp.MustCompile(`go1\.(\d+)`)

// Minor returns the N of a version of Go that begins with go1.N.
func Minor(goVersion string) (int, error) {
	m := version.FindStringSubmatch(goVersion)
	if m == nil {
		return 0, fmt.Errorf("unknown version %q", goVersion)
	}
	return strconv.Atoi(m[1])
}

// Without is p without the names that q has.
func (p *Package) Without(q *Package) *Package {
	has := map[string]bool{}
	for _, n := range q.Names {
		has[n.Name] = true
	}
	r := &Package{Path: p.Path}
	for _, n := range p.Names {
		if !has[n.Name] {
			r.Names = append(r.Names, n)
		}
	}
	return r
}

// Imports returns the packages that a file must import to forward all names.
func (p *Package) Imports() []string {
	paths := []string{p.Path}
	for _, n := range p.Names {
		paths = append(paths, n.imports...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Call returns the statement that calls the func of package pkg with the parameters of n.
func (n Name) Call(pkg string) string {
	call := fmt.Sprintf("%s.%s(%s)", pkg, n.Name, n.args)
	if n.results {
		return "return " + call
	}
	return call
}

// list lists the exported names of some files.
func list(path, dir string, files []string) (*Package, error) {
	p := &Package{Path: path}
	for _, file := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			p.add(fset, f, d)
		}
	}
	return p, nil
}

// add adds the exported names of a declaration.
func (p *Package) add(fset *token.FileSet, f *ast.File, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			p.Names = append(p.Names, function(fset, f, d))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.addIdents("type", spec.Name)
			case *ast.ValueSpec:
				p.addIdents(d.Tok.String(), spec.Names...)
			}
		}
	}
}

func (p *Package) addIdents(kind string, idents ...*ast.Ident) {
	for _, id := range idents {
		if id.IsExported() {
			p.Names = append(p.Names, Name{Name: id.Name, Kind: kind})
		}
	}
}

// function returns the Name of a func.
func function(fset *token.FileSet, f *ast.File, d *ast.FuncDecl) Name {
	var text bytes.Buffer
	_ = printer.Fprint(&text, fset, d.Type) // a Buffer takes all
	n := Name{
		Name: d.Name.Name, Kind: "func", Signature: strings.TrimPrefix(text.String(), "func"),
		results: d.Type.Results != nil,
	}
	var args []string
	for _, field := range d.Type.Params.List {
		for _, id := range field.Names {
			arg := id.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	n.args = strings.Join(args, ", ")
	n.imports = importsOf(f, d.Type)
	return n
}

// importsOf returns the packages that t refers to.
func importsOf(f *ast.File, t *ast.FuncType) (paths []string) {
	used := map[string]bool{}
	ast.Inspect(t, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has seen it
		if used[filepath.Base(path)] {
			paths = append(paths, path)
		}
	}
	return paths
}
