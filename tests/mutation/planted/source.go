package planted

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// source is a file of Go.
type source struct {
	path   string
	text   string
	tokens []lexeme
	decls  []decl
}

// lexeme is a token and its position in the text. Comments are left out, and all semicolons are equal.
type lexeme struct {
	text     string
	isName   bool
	from, to int
}

// decl is a declaration at the top level of a file.
type decl struct {
	name     string // "F", or "T.F" for a method
	from, to int
}

// tree is the code below the root of a module. Each package is read once.
type tree struct {
	root     string
	packages map[string][]source // by directory, from the root
}

func newTree(root string) *tree { return &tree{root: root, packages: map[string][]source{}} }

// files returns the files of the package in a directory, without tests.
func (t *tree) files(dir string) (files []source, err error) {
	files, known := t.packages[dir]
	if !known {
		if files, err = readPackage(filepath.Join(t.root, filepath.FromSlash(dir))); err == nil {
			t.packages[dir] = files
		}
	}
	return files, err
}

// readPackage returns the files of the package in a directory, without tests.
func readPackage(dir string) (files []source, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := source{path: path, text: unixLines(string(text))}
		if f.tokens, err = lexemes(f.text); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if f.decls, err = declsOf(f.text); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// lexemes splits a part of a file.
func lexemes(text string) (all []lexeme, err error) {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	var errs scanner.ErrorList
	s.Init(file, []byte(text), errs.Add, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return all, errs.Err()
		}
		x := lexeme{text: literal, isName: kind == token.IDENT, from: file.Offset(pos)}
		x.to = x.from + len(literal)
		if literal == "" {
			x.text, x.to = kind.String(), x.from+len(kind.String())
		}
		if kind == token.SEMICOLON {
			if literal == "\n" {
				x.to = x.from
			}
			x.text = ";"
		}
		all = append(all, x)
	}
}

func declsOf(text string) (all []decl, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(name string, n ast.Node) {
		all = append(all, decl{name, files.Position(n.Pos()).Offset, files.Position(n.End()).Offset})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiverOf(d)+d.Name.Name, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name, spec)
				case *ast.ValueSpec:
					add(spec.Names[0].Name, spec)
				}
			}
		}
	}
	return all, nil
}

// receiverOf returns "T." for a method of T or *T, with or without type parameters, and "" for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name + "."
}
