// Package planted is the command that checks that the tests find bugs. It has a list of plausible bugs, puts each bug
// into the code in turn, and fails if the tests named for that bug still pass.
//
// It does not change the repository: it gives the go command an overlay that replaces
// the file that has the bug. A list is a directory with one file for each bug:
//
//	What is wrong, in plain words.
//
//	in: hierarchy Wheel.After
//	test: ./hierarchy -run 'TestA|TestB'
//	=== old
//	the code to be replaced, which the function must have exactly once
//	=== new
//	the code that is put in the place of the old code
//
// After "in:" come the directory of a package, from the root of the module whose list it is, and a function, method,
// type, constant or variable of that package. The code is compared by its tokens, without comments, so that changes of
// files, comments and format don't matter. An entry still fits if the code has moved within its package, or if some of
// its names have changed, as long as only one place is like it. With -update, such entries are rewritten to match the
// present code. For a file that is not Go, "file:" and its path stand instead of "in:", and the text must be in it
// exactly once.
//
// After "test:" come the arguments of `go test`: the packages, and a -run that selects
// the tests that must fail, so that a bug takes seconds. If the package is in a nested module,
// `go test` runs in that module's directory, so the packages are relative to it. Three lines may follow:
// `module: DIR` if the tests are of another module than the package,
// `ci: yes` for a bug in the short list of -ci, `os: linux` for a bug in a file that is
// built on that system only.
//
// With -with, other tests are tried than those that the entries name. So what the simulation of durable timers finds
// alone is told by
//
//	go run ./mutation -only 'durable-lease*' -with './internal/simulate/... ./internal/member -run TestHistories -histories 40'
package planted

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Main is the command, with the list in a directory, named from the root of the module in which the command runs.
func Main(directory string) {
	list := flag.Bool("list", false, "print the bugs and run nothing")
	only := flag.String("only", "", "run these bugs only: `names`, separated by commas; * stands for any characters")
	ci := flag.Bool("ci", false, "run the short list only: a few bugs in different packages, within a minute")
	update := flag.Bool("update", false, "run nothing, and write the entries as the code is now: where it is, and its names")
	with := flag.String("with", "", "run these `arguments` of go test for each bug instead of its own: which bugs does that test find?")
	flag.Parse()
	if problem := badUsage(*only, *ci, flag.Args()); problem != "" {
		fmt.Fprintln(os.Stderr, "mutation:", problem)
		flag.Usage()
		os.Exit(2)
	}
	if err := run(directory, *list, *update, *only, *ci, *with); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// badUsage returns a message about an error in the command line, or "" if there is none.
func badUsage(only string, ci bool, arguments []string) string {
	switch {
	case len(arguments) > 0:
		return fmt.Sprintf("unexpected arguments %q", arguments)
	case only != "" && ci:
		return "-only and -ci exclude each other"
	}
	return ""
}

func run(directory string, list, update bool, only string, ci bool, with string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	directory = filepath.Join(root, filepath.FromSlash(directory))
	bugs, err := readBugs(os.DirFS(directory))
	if err != nil {
		return err
	}
	if bugs, err = chosen(bugs, only, ci); err != nil {
		return err
	}
	if list {
		for _, b := range bugs {
			fmt.Printf("%-36s %s\n", b.name, b.about)
		}
		return nil
	}
	if update {
		return updateAll(newTree(root), directory, bugs)
	}
	for i := range bugs {
		if with != "" {
			bugs[i].test = fields(with)
		}
	}
	return tryAll(root, bugs)
}

// chosen returns the bugs that the command line selects.
func chosen(bugs []bug, only string, ci bool) (some []bug, err error) {
	if only == "" && !ci {
		return bugs, nil
	}
	found := map[string]bool{}
	for name := range strings.SplitSeq(only, ",") {
		if name = strings.TrimSpace(name); name != "" {
			found[name] = false
		}
	}
	for _, b := range bugs {
		take := ci && b.ci
		for pattern := range found {
			if ok, _ := path.Match(pattern, b.name); ok {
				take, found[pattern] = true, true
			}
		}
		if take {
			some = append(some, b)
		}
	}
	for pattern, any := range found {
		if !any {
			return nil, fmt.Errorf("there is no bug %q; -list names them", pattern)
		}
	}
	if len(some) == 0 {
		return nil, errors.New("no bug is chosen; -list names them")
	}
	return some, nil
}
