package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed bugs/*.txt
var bugFiles embed.FS

// bug is one entry of the list.
type bug struct {
	name     string   // of its file, without .txt
	about    string   // what is wrong, in one line
	file     string   // path from the root of the repository, with slashes
	test     []string // arguments of go test: the tests that must fail
	ci       bool     // whether the short list has it
	os       string   // the only GOOS that builds the file; empty: all
	old, new string
}

// readBugs reads the list, sorted by name.
func readBugs(files fs.FS) ([]bug, error) {
	names, err := fs.Glob(files, "bugs/*.txt")
	if err != nil {
		return nil, err
	}
	var bugs []bug
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		b, err := parse(string(text))
		b.name = strings.TrimSuffix(path.Base(name), ".txt")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		bugs = append(bugs, b)
	}
	return bugs, nil
}

const (
	oldMark = "\n=== old\n"
	newMark = "\n=== new\n"
)

// parse reads one entry.
func parse(text string) (b bug, err error) {
	head, rest, ok := strings.Cut(unixLines(text), oldMark)
	before, after, both := strings.Cut("\n"+rest, newMark)
	if !ok || !both {
		return b, errors.New(`the sections "=== old" and "=== new" are missing`)
	}
	b.old, b.new = strings.TrimPrefix(before, "\n"), strings.TrimSuffix(after, "\n")
	var about []string
	for line := range strings.SplitSeq(head, "\n") {
		key, value, found := strings.Cut(line, ": ")
		if !found || !b.put(key, strings.TrimSpace(value)) {
			about = append(about, line)
		}
	}
	b.about = strings.TrimSpace(strings.Join(about, " "))
	return b, b.complete()
}

// put stores a line of an entry's head. It reports whether it knows the key.
func (b *bug) put(key, value string) (taken bool) {
	switch key {
	case "file":
		b.file = value
	case "test":
		b.test = fields(value)
	case "ci":
		b.ci = value == "yes"
	case "os":
		b.os = value
	default:
		return false
	}
	return true
}

func (b *bug) complete() error {
	switch {
	case b.about == "":
		return errors.New("it doesn't say what is wrong")
	case b.file == "":
		return errors.New(`the line "file: " is missing`)
	case len(b.test) == 0:
		return errors.New(`the line "test: " is missing`)
	case b.old == "":
		return errors.New("the old text is empty")
	case b.old == b.new:
		return errors.New("the new text is the old one")
	}
	return nil
}

// fields splits arguments at spaces outside single quotes.
func fields(s string) (arguments []string) {
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			arguments = append(arguments, part)
		} else {
			arguments = append(arguments, strings.Fields(part)...)
		}
	}
	return arguments
}

// module returns the directory of the module that b's file is in, with slashes: "." for the root.
func (b *bug) module(root string) string {
	dir := path.Dir(b.file)
	for dir != "." {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir), "go.mod")); err == nil {
			return dir
		}
		dir = path.Dir(dir)
	}
	return dir
}

// mutant returns the text of b's file with the bug in it.
func (b *bug) mutant(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.file)))
	if err != nil {
		return "", fmt.Errorf("%s: %w", b.name, err)
	}
	code := unixLines(string(text))
	if n := strings.Count(code, b.old); n != 1 {
		return "", fmt.Errorf("%s: %s has the old text %d times, not once: the code has changed, update the entry", b.name, b.file, n)
	}
	return strings.Replace(code, b.old, b.new, 1), nil
}

// unixLines normalizes line endings, which git may have changed.
func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
