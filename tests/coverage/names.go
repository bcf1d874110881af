package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
)

// untested returns the exported functions of a package that no test runs and its other
// exported names that no test mentions.
func untested(directory string, f *functions) ([]string, error) {
	mentioned, err := mentionedInTests(".")
	if err != nil {
		return nil, err
	}
	var missing []string
	err = eachFile(directory, false, func(files *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				at := files.Position(d.Pos())
				where := fmt.Sprintf("%s/%s:%d", directory, filepath.Base(at.Filename), at.Line)
				if ran, found := f.ran[where]; exported(d) && found && ran == 0 && len(d.Body.List) > 0 {
					missing = append(missing, directory+"."+receiver(d)+d.Name.Name)
				}
			case *ast.GenDecl:
				for _, name := range declared(d) {
					if name.IsExported() && !mentioned[name.Name] {
						missing = append(missing, directory+"."+name.Name)
					}
				}
			}
		}
	})
	sort.Strings(missing)
	return missing, err
}

// exported reports whether a function can be called from outside its package. A method
// can if its type is exported too.
func exported(d *ast.FuncDecl) bool {
	return d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d)))
}

// receiver returns the name of the type that d is a method of, with a dot, or "" if d is
// a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name + "."
		}
		return name == ""
	})
	return name
}

// declared returns the names of the constants, variables and exported types that d
// declares, with the fields and methods of those types.
func declared(d *ast.GenDecl) (names []*ast.Ident) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			names = append(names, s.Names...)
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			names = append(names, s.Name)
			ast.Inspect(s.Type, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok {
					names = append(names, field.Names...)
				}
				return true
			})
		}
	}
	return names
}

// mentionedInTests returns all names in the test files below directory.
func mentionedInTests(directory string) (map[string]bool, error) {
	mentioned := map[string]bool{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return eachFile(path, true, func(_ *token.FileSet, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					mentioned[id.Name] = true
				}
				return true
			})
		})
	})
	return mentioned, err
}

// eachFile calls f for each Go file in a directory: the tests, or all others.
func eachFile(directory string, tests bool, f func(*token.FileSet, *ast.File)) error {
	names, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f(files, file)
	}
	return nil
}
