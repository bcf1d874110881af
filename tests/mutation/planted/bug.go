package planted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// bug is one entry of the list.
type bug struct {
	name     string   // name of the bug's file, without .txt
	about    string   // one line that says what the bug does wrong
	dir      string   // directory of the package, from the root of the list's module, with slashes
	in       string   // the function, method, type, constant or variable that has the old text; "" for none
	file     string   // path of a file that is not Go, from the root, with slashes; dir and in are then empty
	test     []string // arguments of go test: the tests that must fail
	of       string   // directory of the module of the tests, from the root, or "" if it is that of the code
	ci       bool     // whether the bug is in the short list
	os       string   // the only GOOS that builds the file, or "" if every GOOS does
	old, new string
}

// readBugs reads the list, sorted by name.
func readBugs(files fs.FS) ([]bug, error) {
	names, err := fs.Glob(files, "*.txt")
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

// put stores a line of an entry's head. It returns false for an unknown key.
func (b *bug) put(key, value string) (taken bool) {
	switch key {
	case "in":
		b.dir, b.in, _ = strings.Cut(value, " ")
	case "file":
		b.file = value
	case "test":
		b.test = fields(value)
	case "module":
		b.of = value
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
	case (b.dir == "") == (b.file == ""):
		return errors.New(`the line "in: " or "file: " is missing`)
	case strings.HasSuffix(b.file, ".go"):
		return errors.New(`for Go the line is "in: "`)
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

// tests returns the directory of the module with b's tests, with slashes.
func (b *bug) tests(root string) string {
	if b.of != "" {
		return b.of
	}
	return b.module(root)
}

// module returns the directory of the module with b's code, with slashes. The directory is "." for the list's own.
func (b *bug) module(root string) string {
	dir := b.dir
	if b.file != "" {
		dir = path.Dir(b.file)
	}
	for dir != "." {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir), "go.mod")); err == nil {
			return dir
		}
		dir = path.Dir(dir)
	}
	return dir
}

// mutant returns a file's path, and its text with the bug in it.
func (b *bug) mutant(in *tree) (file, text string, err error) {
	if b.file != "" {
		file, text, err = b.mutantOfText(filepath.Join(in.root, filepath.FromSlash(b.file)))
	} else {
		file, text, err = b.mutantOfCode(in)
	}
	if err != nil {
		return "", "", fmt.Errorf("%s: %s%s %s: %w: the code has changed, update the entry", b.name, b.file, b.dir, b.in, err)
	}
	return file, text, nil
}

func (b *bug) mutantOfCode(in *tree) (file, text string, err error) {
	files, err := in.files(b.dir)
	if err != nil {
		return "", "", err
	}
	s, err := b.find(files)
	if err != nil {
		return "", "", err
	}
	return s.file.path, s.file.text[:s.from] + rename(b.new, s.renamed) + s.file.text[s.to:], nil
}

func (b *bug) mutantOfText(path string) (file, text string, err error) {
	all, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	text = unixLines(string(all))
	if n := strings.Count(text, b.old); n != 1 {
		return "", "", fmt.Errorf("the old text is there %d times, not once", n)
	}
	return path, strings.Replace(text, b.old, b.new, 1), nil
}

// unixLines normalizes line endings, which git may have changed.
func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
