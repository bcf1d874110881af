package planted

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Misfits says which entries of a list do not fit the code of a module: their code is not there, or in another module
// that has a list of its own, or their tests are not.
func Misfits(root, list string) (problems []error) {
	bugs, err := readBugs(os.DirFS(list))
	if err != nil {
		return []error{err}
	}
	code, tests := newTree(root), testNames{}
	for _, b := range bugs {
		if _, _, err := b.mutant(code); err != nil {
			problems = append(problems, err)
		}
		module := b.module(root)
		if other := listAbove(root, module); other != "" {
			problems = append(problems, fmt.Errorf("%s: it belongs into the list %s", b.name, other))
		}
		for _, name := range tests.unknown(filepath.Join(root, filepath.FromSlash(b.tests(root))), b) {
			problems = append(problems, fmt.Errorf("%s: no test is called %s", b.name, name))
		}
	}
	return problems
}

// listAbove returns the list that a module has below root, or one above it, or "" if they are of the list of root.
func listAbove(root, module string) string {
	for ; module != "."; module = path.Dir(module) {
		list := path.Join(module, "mutation/bugs")
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(list))); err == nil {
			return list
		}
	}
	return ""
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// testNames has the names of the tests of packages, one a line, by directory.
type testNames map[string]string

// unknown returns the alternatives of b's -run that match no test of its packages.
func (n testNames) unknown(module string, b bug) (unknown []string) {
	names := ""
	var wanted []string
	for i, argument := range b.test {
		if strings.HasPrefix(argument, "./") {
			names += n.of(filepath.Join(module, filepath.FromSlash(argument)))
		} else if i > 0 && b.test[i-1] == "-run" {
			wanted = strings.Split(argument, "|")
		}
	}
	for _, name := range wanted {
		if !regexp.MustCompile("(?m)" + name).MatchString(names) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// of returns the names of the tests in a directory. A file that can't be read has none.
func (n testNames) of(dir string) string {
	if names, known := n[dir]; known {
		return names
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go")) // the pattern is good
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, found := range testFunction.FindAllStringSubmatch(string(text), -1) {
			n[dir] += found[1] + "\n"
		}
	}
	return n[dir]
}
