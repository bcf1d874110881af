package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
)

const ours = "github.com/epicycle-go/epicycle/compat/"

// file is a file that rewrite has worked on.
type file struct {
	text  []byte   // nil if nothing changes
	notes []string // places that the user should check
}

// rewrite changes the paths of imports, and no other byte. If the file was formatted before, its
// imports are sorted again.
func rewrite(name string, text []byte, back bool) (f file, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return f, err
	}
	local := f.changeImports(files, parsed, text, targets(back))
	if f.text == nil {
		return f, nil
	}
	if local != "" {
		f.notes = append(f.notes, lookAt(files, parsed, local)...)
	}
	if formatted, err := format.Source(text); err == nil && bytes.Equal(formatted, text) {
		f.text, err = format.Source(f.text)
		return f, err
	}
	return f, nil
}

// targets returns the new path of each import that changes.
func targets(back bool) map[string]string {
	if back {
		return map[string]string{ours + "time": "time", ours + "context": "context"}
	}
	return map[string]string{"time": ours + "time", "context": ours + "context"}
}

// changeImports sets f.text to text with the imports changed. If the import of package time has changed, changeImports
// returns the name by which the file uses that package.
func (f *file) changeImports(files *token.FileSet, parsed *ast.File, text []byte, to map[string]string) (local string) {
	var changed bytes.Buffer
	done := 0
	for _, spec := range parsed.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		other, ok := to[path]
		if !ok || spec.Name != nil && spec.Name.Name == "_" {
			continue
		}
		if ast.IsGenerated(parsed) {
			f.notes = append(f.notes, note(files, spec, "a generated file, left as it is: its generator writes this import"))
			continue
		}
		begin, end := files.Position(spec.Path.Pos()).Offset, files.Position(spec.Path.End()).Offset
		changed.Write(text[done:begin])
		changed.WriteString(strconv.Quote(other))
		done = end
		if path == "time" {
			local = localName(spec)
		}
	}
	if done > 0 {
		changed.Write(text[done:])
		f.text = changed.Bytes()
	}
	return local
}

// localName returns the name by which a file uses package time, "." included.
func localName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return "time"
}

func note(files *token.FileSet, at ast.Node, text string) string {
	p := files.Position(at.Pos())
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, text)
}
