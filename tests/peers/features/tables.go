package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// findings are the outcomes of all checks.
type findings struct {
	of       []contender.Contender
	checks   []check
	outcomes map[cell]outcome
}

// cell is the place of an outcome in the table.
type cell struct{ check, of string }

// atOnce is the number of checks that run at the same time. Checks mostly sleep.
const atOnce = 8

// tryAll runs each check for each contender.
func tryAll(ctx context.Context, of []contender.Contender, checks []check) (findings, error) {
	found := findings{of, checks, make(map[cell]outcome)}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, one := range slices.Backward(of) { // the last contender takes longest
		for _, c := range checks {
			group.Go(func() error {
				o, err := try(ctx, one, c)
				mu.Lock()
				defer mu.Unlock()
				found.outcomes[cell{c.name, one.Name}] = o
				return err
			})
		}
	}
	return found, group.Wait()
}

// markdown returns a table of all verdicts, and a table with what broke a promise.
func (f findings) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "Checked with %s on %s/%s.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	text.WriteString(figures.Table(f.verdicts()))
	text.WriteString("\n### What broke a promise\n\n")
	text.WriteString(figures.Table(f.broken()))
	return text.String()
}

func (f findings) verdicts() [][]string {
	head := []string{"promise"}
	for _, c := range f.of {
		head = append(head, c.Label)
	}
	rows := [][]string{head}
	for _, c := range f.checks {
		row := []string{c.promise}
		for _, one := range f.of {
			row = append(row, string(f.outcomes[cell{c.name, one.Name}].Verdict))
		}
		rows = append(rows, row)
	}
	return rows
}

// broken returns the evidence of all promises that are not kept.
func (f findings) broken() [][]string {
	rows := [][]string{{"library", "promise", "what happened"}}
	for _, of := range f.of {
		for _, c := range f.checks {
			if o := f.outcomes[cell{c.name, of.Name}]; o.Verdict == notKept {
				rows = append(rows, []string{heading(of), c.promise, strings.ReplaceAll(o.Evidence, "|", `\|`)})
			}
		}
	}
	return rows
}

// heading returns the name of a contender, with the version that was checked.
func heading(c contender.Contender) string {
	if c.Module == "" {
		return c.Label
	}
	return c.Label + " " + version(c.Module)
}

// version returns the version of a module that this program was built with.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	return "of unknown version"
}
