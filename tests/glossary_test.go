package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// core are the packages of the wheel.
var core = []string{
	"../level", "../level/arena", "../hierarchy/internal/circles", "../hierarchy/internal/timers",
	"../hierarchy/internal/engine", "../hierarchy",
}

// word is the first column of the table of words in docs/design.md.
var word = regexp.MustCompile(`(?m)^\| ([a-z][a-z -]*) \| `)

// camel finds the words of an identifier.
var camel = regexp.MustCompile("[A-Z]?[a-z]+")

// The words of the design page are those of the code, and things that have a word there have no other one in the code.
func TestWordsOfTheDesignPage(t *testing.T) {
	page, err := os.ReadFile("../docs/design.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "### Words")
	table, _, _ = strings.Cut(table, "## A timer's life")
	words := word.FindAllStringSubmatch(table, -1)[1:] // without the heading
	require.GreaterOrEqual(t, len(words), 20)
	used := wordsOfCore(t)
	for _, w := range words {
		for _, part := range strings.FieldsFunc(w[1], func(r rune) bool { return r == ' ' || r == '-' }) {
			require.Positive(t, len(used[part])+len(used[part+"s"]), "the page explains %q, and no name of the code has %q", w[1], part)
		}
	}
	for other, instead := range map[string]string{
		"bag": "slot", "deal": "cascade", "dealt": "cascade", "ring": "circle", "list": "chain",
	} {
		for where := range used[other] {
			if other == "ring" && strings.HasPrefix(where, "../hierarchy/internal/engine") { // what an alarm does
				continue
			}
			require.Fail(t, "another word for "+instead, "%s has names with %q", where, other)
		}
	}
}

// wordsOfCore returns the words of which the names consist that the core declares, and the files that have them.
func wordsOfCore(t *testing.T) map[string]map[string]bool {
	used := map[string]map[string]bool{}
	for _, dir := range core {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					for _, w := range camel.FindAllString(id.Name, -1) {
						w = strings.ToLower(w)
						if used[w] == nil {
							used[w] = map[string]bool{}
						}
						used[w][file] = true
					}
				}
				return true
			})
		}
	}
	return used
}
