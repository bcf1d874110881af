package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

const ours = "github.com/epicycle-go/epicycle/compat/"

// source is a parsed file.
type source struct {
	name   string
	text   []byte
	files  *token.FileSet
	parsed *ast.File
}

func parseSource(name string, text []byte, mode parser.Mode) (s source, err error) {
	s = source{name: name, text: text, files: token.NewFileSet()}
	s.parsed, err = parser.ParseFile(s.files, name, text, mode|parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

// rewrite changes the paths of imports, and no other byte. If the imports were formatted before, they are sorted again.
func rewrite(name string, text []byte, o options) (*file, error) {
	f := &file{name: name, old: text}
	s, err := parseSource(name, text, 0)
	if err != nil {
		return nil, err
	}
	specs, notes := s.imports(o)
	f.notes = notes
	if len(specs) == 0 {
		return f, nil
	}
	if ast.IsGenerated(s.parsed) {
		f.skip = skip{s.at(specs[0]), generated, "a generated file: its generator writes this import"}
		return f, nil
	}
	plain := s.changed(specs)
	if f.text = s.sorted(plain); !s.restoredFrom(f.text, o) {
		f.text = plain
	}
	if !s.restoredFrom(f.text, o) {
		f.notes = append(f.notes, s.note(specs[0], "the way back leads to another order of these imports"))
	}
	for _, spec := range specs {
		if pathOf(spec) == "time" {
			f.notes = append(f.notes, lookAt(s, localName(spec))...)
		}
	}
	return f, nil
}

// imports returns the imports that change. A file that imports a package of the standard library and ours has a reason:
// the former is left as it is.
func (s source) imports(o options) (specs []*ast.ImportSpec, notes []string) {
	all := slices.DeleteFunc(slices.Clone(s.parsed.Imports), func(spec *ast.ImportSpec) bool {
		return spec.Name != nil && spec.Name.Name == "_"
	})
	for _, spec := range all {
		other := otherPath(pathOf(spec), o.back)
		if !slices.Contains(o.only, strings.TrimPrefix(pathOf(spec), ours)) || other == "" {
			continue
		}
		if slices.ContainsFunc(all, func(spec *ast.ImportSpec) bool { return pathOf(spec) == other }) {
			notes = append(notes, s.note(spec, "both "+pathOf(spec)+" and "+other+" are imported, and left as they are"))
			continue
		}
		specs = append(specs, spec)
	}
	return specs, notes
}

// otherPath returns the path that an import of path changes to, or "" if it does not change.
func otherPath(path string, back bool) string {
	name, isOurs := strings.CutPrefix(path, ours)
	switch {
	case isOurs != back || !slices.Contains(packages, name):
		return ""
	case back:
		return name
	}
	return ours + name
}

// changed returns the text with other paths in specs. Each keeps its kind of quotes.
func (s source) changed(specs []*ast.ImportSpec) []byte {
	var text bytes.Buffer
	done := 0
	for _, spec := range specs {
		begin, end := s.files.Position(spec.Path.Pos()).Offset, s.files.Position(spec.Path.End()).Offset
		quote := s.text[begin]
		path := pathOf(spec)
		text.Write(s.text[done:begin])
		text.WriteByte(quote)
		text.WriteString(otherPath(path, strings.HasPrefix(path, ours)))
		text.WriteByte(quote)
		done = end
	}
	text.Write(s.text[done:])
	return text.Bytes()
}

// sorted returns text, which is s with other paths, with its imports sorted if those of s were formatted.
func (s source) sorted(text []byte) []byte {
	head := s.text[:s.endOfImports()]
	if formatted, err := format.Source(head); err != nil || !bytes.Equal(formatted, head) {
		return text
	}
	tail := s.text[len(head):]
	formatted, err := format.Source(text[:len(text)-len(tail)])
	if err != nil {
		return text
	}
	return append(formatted, tail...)
}

// endOfImports returns the offset of the line after the last import.
func (s source) endOfImports() int {
	end := 0
	for _, decl := range s.parsed.Decls {
		if imports, ok := decl.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			end = s.files.Position(imports.End()).Offset
		}
	}
	if i := bytes.IndexByte(s.text[end:], '\n'); i >= 0 {
		return end + i + 1
	}
	return len(s.text)
}

// restoredFrom reports whether the way back leads from text to s, byte for byte.
func (s source) restoredFrom(text []byte, o options) bool {
	there, err := parseSource(s.name, text, parser.ImportsOnly)
	if err != nil {
		return false
	}
	o.back = !o.back
	specs, _ := there.imports(o)
	return bytes.Equal(there.sorted(there.changed(specs)), s.text)
}

func pathOf(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value)
	return path
}

// localName returns the name by which a file uses package time, "." included.
func localName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return "time"
}

// at returns the place of n. //line directives do not count: it is this file that is looked at.
func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.name, s.files.PositionFor(n.Pos(), false).Line)
}

func (s source) note(n ast.Node, text string) string { return s.at(n) + ": " + text }
