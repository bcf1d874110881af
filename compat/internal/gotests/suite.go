// Package gotests runs Go's own tests of a package of the standard library on a package of compat. It reads the tests
// from the source of the running version of Go, and changes their imports. No part of these tests is in this
// repository.
package gotests

import (
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the import path of this repository.
const module = "github.com/epicycle-go/epicycle"

// Suite is the tests of a package.
type Suite struct {
	Package string            // path of a package of the standard library
	Files   []string          // test files of that package
	Imports map[string]string // paths to import instead of other paths, by the path that is replaced
	Extra   map[string]string // files to add, by name
	LeftOut map[string]string // reasons why tests and subtests are left out, by name
	Hasty   map[string]string // tests that may fail on a busy machine, with the reason, by name
	Cut     []string          // functions other than tests that do not compile without the tests left out
	Edits   map[string]string // text to replace, so that a test takes less time
	Flags   []string          // further flags for go test
}

// Run runs the tests. It skips t if the source of the standard library is not there.
func (s Suite) Run(t *testing.T) {
	src := filepath.Join(build.Default.GOROOT, "src", s.Package)
	if _, err := os.Stat(filepath.Join(src, s.Files[0])); build.Default.GOROOT == "" || err != nil {
		t.Skipf("no source of Go's tests: %v", err)
	}
	dir := t.TempDir()
	s.writeModule(t, dir)
	var names []string
	for _, file := range s.Files {
		text, err := os.ReadFile(filepath.Join(src, file))
		require.NoError(t, err)
		text, tests, err := s.adapt(file, text)
		require.NoError(t, err)
		names = append(names, tests...)
		write(t, filepath.Join(dir, file), string(text))
	}
	for file, text := range s.Extra {
		write(t, filepath.Join(dir, file), text)
	}
	out, err := s.testAgain(t, dir)
	require.NoError(t, err, passing.ReplaceAllString(out, ""))
	s.requirePass(t, out, names)
}

// testAgain runs the tests. If only hasty tests fail, it runs the failed tests up to three times more, without other
// tests in parallel.
func (s Suite) testAgain(t *testing.T, dir string) (out string, err error) {
	out, err = s.test(t, dir, "")
	for n := 0; n < 3 && err != nil && s.onlyHasty(out); n++ {
		var again string
		again, err = s.test(t, dir, "^("+strings.Join(failed(out), "|")+")$")
		out = failing.ReplaceAllString(out, "") + again
	}
	return out, err
}

// onlyHasty reports whether some tests have failed, and all of these are tests that may fail on a busy machine.
func (s Suite) onlyHasty(out string) bool {
	names := failed(out)
	for _, name := range names {
		if _, ok := s.Hasty[name]; !ok {
			return false
		}
	}
	return len(names) > 0
}

// failing matches the lines in the output of go test that name a failed test.
var failing = regexp.MustCompile(`(?m)^--- FAIL: (\w+) `)

// failed returns the names of the tests that have failed.
func failed(out string) (names []string) {
	for _, m := range failing.FindAllStringSubmatch(out, -1) {
		names = append(names, m[1])
	}
	return names
}

// writeModule makes dir a module that requires this repository and its dependencies from the disk, so that nothing is
// downloaded.
func (s Suite) writeModule(t *testing.T, dir string) {
	root := repository(t)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module "+module, "module gotests", 1)
	text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, root)
	write(t, filepath.Join(dir, "go.mod"), text)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	write(t, filepath.Join(dir, "go.sum"), string(sum))
}

// repository returns the root of this repository.
func repository(t *testing.T) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod")
		dir = filepath.Dir(dir)
	}
}

func write(t *testing.T, file, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

// test runs the tests in dir whose names match only, and returns the output of go test.
func (s Suite) test(t *testing.T, dir, only string) (string, error) {
	args := append([]string{"test", "-v", "-count=1", "-vet=off", "-run", only}, s.Flags...)
	if skip := s.skipped(); skip != "" {
		args = append(args, "-skip", skip)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(build.Default.GOROOT, "bin", "go"), append(args, ".")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// passing matches the lines in the output of go test that report no failure.
var passing = regexp.MustCompile(`(?m)^( *--- PASS|=== (RUN|PAUSE|CONT|NAME)).*\n`)

// skipped returns the pattern of the subtests that are left out. Tests are cut from the source.
func (s Suite) skipped() string {
	var patterns []string
	for name := range s.LeftOut {
		if strings.Contains(name, "/") {
			parts := strings.Split(name, "/")
			for i, part := range parts {
				parts[i] = "^" + regexp.QuoteMeta(part) + "$"
			}
			patterns = append(patterns, strings.Join(parts, "/"))
		}
	}
	slices.Sort(patterns)
	return strings.Join(patterns, "|")
}

// requirePass requires that each test has passed or has skipped itself.
func (s Suite) requirePass(t *testing.T, out string, names []string) {
	require.NotEmpty(t, names)
	for _, name := range names {
		ended := regexp.MustCompile(`(?m)^--- (PASS|SKIP): ` + name + ` `)
		require.Regexp(t, ended, out)
	}
	t.Logf("%d of Go's tests of package %s passed", strings.Count(out, "\n--- PASS: "), s.Package)
}
