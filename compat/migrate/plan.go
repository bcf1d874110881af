package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"strings"
)

// keep is the directive that exempts a file. It stands above the package clause.
const keep = "//epicycle:keep"

// file is a file, and what becomes of it.
type file struct {
	name  string
	info  fs.FileInfo
	old   []byte
	text  []byte   // nil if nothing changes
	notes []string // places that the user should look at
	skip  skip     // why the file is left as it is, if anything would change otherwise
}

// plan decides what becomes of all files, and writes nothing. Its error has all files that can't be changed.
func plan(names []string, o options) (files []*file, err error) {
	var bad []error
	for _, name := range names {
		f, err := planFile(name, o)
		if err != nil {
			bad = append(bad, err)
			f = &file{name: name, skip: skip{name, broken, err.Error()}}
		}
		files = append(files, f)
	}
	if len(bad) > 0 && !o.skipBad {
		return nil, fmt.Errorf("no file was changed, since %d can't be (-skip-bad changes the others):\n%w",
			len(bad), errors.Join(bad...))
	}
	return files, nil
}

func planFile(name string, o options) (*file, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if kept(text) {
		return &file{name: name, skip: skip{name, marked, "it has " + keep}}, nil
	}
	f, err := rewrite(name, text, o)
	if err != nil {
		return nil, err
	}
	if f.text != nil && info.Mode().Perm()&0o200 == 0 {
		return nil, fmt.Errorf("%s: the file is read-only", name)
	}
	f.info = info
	return f, nil
}

// kept reports whether the comments at the beginning of text have the directive. The rest need not be Go: the directive
// also exempts templates.
func kept(text []byte) bool {
	if !bytes.Contains(text, []byte(keep)) {
		return false
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	for {
		_, tok, comment := s.Scan()
		if tok != token.COMMENT {
			return false
		}
		if rest, ok := strings.CutPrefix(comment, keep); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			return true
		}
	}
}
