package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/epicycle-go/epicycle/"

// packageRow is a row of the tables of packages.
var packageRow = regexp.MustCompile("(?m)^\\| [^|]* \\| `([^`]+)`")

// Packages import what the architecture page lets them import: those of the core only clock and what is above them in their
// table, and all others nothing of the core but package hierarchy.
func TestPackagesKnowWhatTheirPageSays(t *testing.T) {
	page, err := os.ReadFile("../docs/ARCHITECTURE.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "The core, from the bottom up:")
	table, _, _ = strings.Cut(table, "## What holds")
	table, rest, _ := strings.Cut(table, "Beside it:")
	core, listed := packagesIn(table), packagesIn(table+rest)
	require.Equal(t, "level/arena", core[0])
	require.Equal(t, "hierarchy", core[len(core)-1])
	for dir, imports := range importsBelow(t, "..") {
		at := slices.Index(core, dir)
		for _, imported := range imports {
			switch above := slices.Index(core, imported); {
			case at >= 0 && imported == "clock":
			case at >= 0:
				require.True(t, above >= 0 && above < at, "%s imports %s", dir, imported)
			default:
				require.True(t, above < 0 || imported == "hierarchy", "%s imports %s", dir, imported)
			}
		}
		require.True(t, slices.ContainsFunc(listed, func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }) ||
			strings.HasPrefix(dir, "docs/"), "%s is not on the page", dir)
	}
	for _, p := range listed {
		require.DirExists(t, "../"+p)
	}
}

func packagesIn(table string) (names []string) {
	for _, row := range packageRow.FindAllStringSubmatch(table, -1) {
		names = append(names, row[1])
	}
	return names
}

// importsBelow returns what the packages below a folder import of this project, without their tests.
func importsBelow(t *testing.T, root string) map[string][]string {
	all := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		dir, _ := filepath.Rel(root, filepath.Dir(path))
		dir = filepath.ToSlash(dir)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "bugs"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(dir, "tests"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		all[dir] = append(all[dir], ownImports(f.Imports)...)
		return nil
	})
	require.NoError(t, err)
	return all
}

// ownImports returns the packages of this project among imports.
func ownImports(imports []*ast.ImportSpec) (own []string) {
	for _, i := range imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if name, ok := strings.CutPrefix(path, modulePath); ok {
			own = append(own, name)
		}
	}
	return own
}
