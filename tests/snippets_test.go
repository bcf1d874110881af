package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestSnippetsAreCode holds that every Go snippet in README.md and docs stands,
// line for line, in a file of this package: there it compiles and is run.
func TestSnippetsAreCode(t *testing.T) {
	var code strings.Builder
	sources, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range sources {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		code.WriteString(flat(string(source)))
	}
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	found := 0
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range goBlock.FindAllStringSubmatch(string(text), -1) {
			found++
			require.Contains(t, code.String(), flat(block[1]), "%s: a snippet that is not in a test", page)
		}
	}
	require.Positive(t, found)
}

// flat is code without indentation.
func flat(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var link = regexp.MustCompile(`\]\(([^)#:]+)[^):]*\)`)

// TestLinksLeadSomewhere holds that every link to a file in README.md and docs
// leads to one.
func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "../README.md", "../CHANGELOG.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			require.FileExists(t, filepath.Join(filepath.Dir(page), m[1]), "link in %s", page)
		}
	}
}
