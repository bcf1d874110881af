// Command coverage prints the percentage of the library's statements that tests run, and
// the exported names that no test runs or mentions. It fails if the percentage is below
// -least, or if there is such a name.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// measured are the directories of the packages that are measured.
var measured = []string{
	"level", "level/arena",
	"hierarchy/internal/circles", "hierarchy/internal/timers", "hierarchy/internal/engine", "hierarchy/internal/executor",
	"hierarchy/internal/keys", "hierarchy/internal/wheelctx", "hierarchy",
	"clock/internal/alarmheap", "clock/internal/serial", "clock/internal/wakeup", "clock",
	"compat",
}

func main() {
	least := flag.Float64("least", 95, "fail if tests run less than this `percentage` of the statements")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "coverage: unexpected arguments %q\n", flag.Args())
		flag.Usage()
		os.Exit(2)
	}
	if err := report(*least); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func report(least float64) error {
	functions, err := runTests()
	if err != nil {
		return err
	}
	fmt.Printf("%.1f %% of the library's statements are run by tests\n", functions.total)
	var missing []string
	for _, directory := range measured {
		if directory == "hierarchy/internal/engine" {
			continue // tests reach the constants and hooks of this package through package hierarchy
		}
		names, err := untested(directory, functions)
		if err != nil {
			return err
		}
		missing = append(missing, names...)
	}
	for _, name := range missing {
		fmt.Println("not tested:", name)
	}
	switch {
	case len(missing) > 0:
		return errors.New("exported names without a test or Example")
	case functions.total < least:
		return fmt.Errorf("less than %g %%", least)
	}
	return nil
}

// runTests runs the library's own tests and returns their coverage by function.
func runTests() (*functions, error) {
	directory, err := os.MkdirTemp("", "coverage")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	profile := filepath.Join(directory, "profile")
	packages := "./" + strings.Join(measured, ",./")
	test := exec.Command("go", "test", "-count=1", "-timeout", "20m", "-coverpkg="+packages, "-coverprofile="+profile,
		"./level/...", "./hierarchy/...", "./clock/...", "./compat/...",
		"./tests/callbacks", "./tests/contexts", "./tests/repeating", "./tests/timers")
	test.Env = append(os.Environ(), "EPICYCLE_LONG=1")
	if out, err := test.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test: %w\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "cover", "-func="+profile).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool cover: %w", err)
	}
	return parseFunctions(string(out))
}
