package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// This program writes what stands between these two lines of a page.
const (
	begin = "<!-- features: written by go run ./features -o -->\n"
	end   = "<!-- end of features -->\n"
)

var errNoMarks = errors.New("the page has no marks to write between")

// replaceInPage puts text between the marks of the page at path.
func replaceInPage(path, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, _, after, err := between(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644)
}

// between cuts a page at its marks.
func between(page string) (before, text, after string, err error) {
	before, rest, found := strings.Cut(page, begin)
	text, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", "", "", errNoMarks
	}
	return before, text, after, nil
}
