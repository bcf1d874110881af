package figures

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

var ErrNoMarks = errors.New("the page has no marks to write between")

// ReplaceBetween puts text between two lines of the page at path.
func ReplaceBetween(path, begin, end, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, _, after, err := Between(string(page), begin, end)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644)
}

// Between cuts a page at two lines.
func Between(page, begin, end string) (before, text, after string, err error) {
	before, rest, found := strings.Cut(page, begin)
	text, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", "", "", ErrNoMarks
	}
	return before, text, after, nil
}
