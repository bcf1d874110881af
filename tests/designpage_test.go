package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/long"
)

// place is how docs/design.md says where something happens.
var place = regexp.MustCompile("`(\\w+)\\.(\\w+)` in `([\\w/]+\\.go)`")

// Each method that the pages of the code name exists, in the file that they name.
func TestPagesNameWhatExists(t *testing.T) {
	for file, least := range map[string]int{"design.md": 15, "ARCHITECTURE.md": 4} {
		page, err := os.ReadFile("../docs/" + file)
		require.NoError(t, err)
		named := place.FindAllStringSubmatch(string(page), -1)
		require.GreaterOrEqual(t, len(named), least)
		for _, n := range named {
			require.Contains(t, methodsOf(t, "../"+n[3]), n[1]+"."+n[2], n[3])
		}
	}
}

// methodsOf returns the methods that a file declares, as Type.Method, and the lines of their bodies.
func methodsOf(t *testing.T, file string) map[string]lines {
	files, methods := token.NewFileSet(), map[string]lines{}
	f, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
			body := lines{files.Position(fn.Body.Lbrace).Line, files.Position(fn.Body.Rbrace).Line}
			methods[receiver(fn.Recv.List[0].Type)+"."+fn.Name.Name] = body
		}
	}
	return methods
}

type lines struct{ first, last int }

// The ways of a timer that the design page describes are those that timers take.
func TestTimersTakeTheWayOfTheDesignPage(t *testing.T) {
	long.Only(t) // it compiles the wheel once more
	page, err := os.ReadFile("../docs/design.md")
	require.NoError(t, err)
	_, life, _ := strings.Cut(string(page), "## A timer's life")
	life, _, _ = strings.Cut(life, "## Circles")
	one, crowd, _ := strings.Cut(life, "A timer in a crowd")
	for _, way := range []struct{ name, page, dir, tests string }{
		{"one timer", one, "timers", "^TestOneTimer$"},
		{"crowd", crowd, "../hierarchy/internal/engine", "^(TestCrowdComesDownInTime|TestCascadeOfAnotherShard)$"},
	} {
		t.Run(way.name, func(t *testing.T) {
			runs := linesRun(t, way.dir, way.tests)
			named := place.FindAllStringSubmatch(way.page, -1)
			require.GreaterOrEqual(t, len(named), 6)
			for _, n := range named {
				body := methodsOf(t, "../"+n[3])[n[1]+"."+n[2]]
				require.True(t, slices.ContainsFunc(runs[n[3]], func(l int) bool { return body.first <= l && l <= body.last }),
					"%s does not run %s", way.tests, n[0])
			}
		})
	}
}

// linesRun returns the first lines of the blocks that those tests run, by file.
func linesRun(t *testing.T, dir, tests string) map[string][]int {
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.Command("go", "test", "-count=1", "-run", tests, "-coverprofile", profile,
		"-coverpkg", "github.com/epicycle-go/epicycle/level/...,github.com/epicycle-go/epicycle/hierarchy/...", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "no tests to run")
	text, err := os.ReadFile(profile)
	require.NoError(t, err)
	runs := map[string][]int{}
	for _, m := range blockRun.FindAllStringSubmatch(string(text), -1) {
		line, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		runs[m[1]] = append(runs[m[1]], line)
	}
	return runs
}

// blockRun is a line of a profile about a block that has run.
var blockRun = regexp.MustCompile(`(?m)^github.com/epicycle-go/epicycle/(\S+):(\d+)\.\d+,\S+ \d+ [1-9]\d*$`)

// receiver is the name of a receiver's type, without pointer and parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
