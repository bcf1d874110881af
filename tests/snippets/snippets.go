// Package snippets finds the Go code of Markdown pages in tests, so that what a page shows is
// compiled and run. The tests of this project's modules use it.
package snippets

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Of returns the Go snippets of a page.
func Of(page string) (all []string) {
	for _, block := range goBlock.FindAllStringSubmatch(page, -1) {
		all = append(all, block[1])
	}
	return all
}

// Missing returns the snippets of a page that are not, line for line, in code. Indentation and empty lines make no
// difference.
func Missing(page, code string) (missing []string) {
	code = flat(code)
	for _, s := range Of(page) {
		if !strings.Contains(code, flat(s)) {
			missing = append(missing, s)
		}
	}
	return missing
}

// flat returns code without indentation and empty lines.
func flat(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// Read returns the text of all files that match the patterns, with the line ends of Unix.
func Read(patterns ...string) (string, error) {
	var text strings.Builder
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			text.WriteString(strings.ReplaceAll(string(data), "\r\n", "\n"))
		}
	}
	return text.String(), nil
}
