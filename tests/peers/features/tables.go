package main

import (
	"context"
	"fmt"
	"runtime"
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

// markdown returns a table of all promises, and who breaks or does not offer them; with evidence, how they are broken.
func (f findings) markdown(evidence bool) string {
	return fmt.Sprintf("Checked with %s on %s/%s.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH) + figures.Table(f.verdicts(evidence))
}

// between separates those who break a promise, with their evidence.
const between = "<br>"

// verdicts returns a row for each promise: who breaks it, and who does not offer it. All others keep it.
func (f findings) verdicts(evidence bool) [][]string {
	rows := [][]string{{"promise", "broken by", "not offered by"}}
	for _, c := range f.checks {
		broken, by := []string{}, map[string][]string{} // those with the same evidence stand together
		var breakers, lacking []string
		for _, of := range f.of {
			switch o := f.outcomes[cell{c.name, of.Name}]; o.Verdict {
			case notKept:
				if by[o.Evidence] == nil {
					broken = append(broken, o.Evidence)
				}
				by[o.Evidence] = append(by[o.Evidence], of.Label)
				breakers = append(breakers, of.Label)
			case notOffered:
				lacking = append(lacking, of.Label)
			}
		}
		for i, how := range broken {
			broken[i] = strings.Join(by[how], ", ") + ": " + strings.ReplaceAll(how, "|", `\|`)
		}
		who := strings.Join(breakers, ", ")
		if evidence {
			who = strings.Join(broken, between)
		}
		rows = append(rows, []string{c.promise, who, strings.Join(lacking, ", ")})
	}
	return rows
}
