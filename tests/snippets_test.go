package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/tests/snippets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSnippetsAreCode requires that every Go snippet in README.md and docs is part of a
// test, line for line, so that it is compiled and run. The tests of other modules are read as text.
func TestSnippetsAreCode(t *testing.T) {
	code, err := snippets.Read("*_test.go", "recipes/*_test.go", "peers/*_test.go",
		"../compat/adapters/*/*_test.go", "../hierarchy/durable/*_test.go", "../hierarchy/durable/*/*_test.go",
		"../hierarchy/durable/cmd/epicycle/internal/clients/*_test.go")
	require.NoError(t, err)
	found := 0
	for _, page := range pages(t) {
		found += len(snippets.Of(read(t, page)))
		require.Empty(t, snippets.Missing(read(t, page), code), "%s: no test has this snippet", page)
	}
	require.Positive(t, found)
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestLinksLeadSomewhere requires that the file or heading behind every link to a file of
// the project exists.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			_, err := os.Stat(target)
			require.NoError(t, err, "link in %s", page)
			if m[2] != "" {
				require.Contains(t, anchors(read(t, target)), m[2], "link in %s to %s", page, target)
			}
		}
	}
}

// anchors returns the link anchors of a page's headings.
func anchors(page string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		name := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		names = append(names, "#"+regexp.MustCompile(`[^\w-]`).ReplaceAllString(name, ""))
	}
	return names
}

// TestEveryPageIsInTheIndex requires that docs/README.md links to every page.
func TestEveryPageIsInTheIndex(t *testing.T) {
	index := read(t, "../docs/README.md")
	for _, page := range glob(t, "../docs/*.md") {
		if name := filepath.Base(page); name != "README.md" {
			require.Contains(t, index, "("+name+")")
		}
	}
}

// pages returns the names of all Markdown pages in docs and at the root.
func pages(t *testing.T) []string {
	return append(glob(t, "../docs/*.md"), glob(t, "../*.md")...)
}

func glob(t *testing.T, pattern string) []string {
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names, pattern)
	return names
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
