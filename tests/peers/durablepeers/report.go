package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// report has the tables of one run.
type report struct {
	scale    float64
	systems  []system
	left     []string // lines about what was left out
	sections []section
	failures []error
	took     time.Duration
}

type section struct {
	scenario
	rows [][]string
}

var errNoneChosen = errors.New("no scenario or no system is chosen, or what they need is not installed")

// measure runs the scenarios that are chosen with the systems that are there.
func measure(ctx context.Context, o options, progress io.Writer) (*report, error) {
	begun := time.Now()
	r := &report{scale: o.scale}
	names, of, _ := strings.Cut(o.only, ":")
	for _, s := range systems() {
		if !chosen(of, s.Name) {
			continue
		}
		if missing := s.missing(); len(missing) > 0 {
			r.left = append(r.left, fmt.Sprintf("%s was left out: %s is not installed.", s.Name, strings.Join(missing, ", ")))
			continue
		}
		r.systems = append(r.systems, s)
	}
	for _, c := range scenarios() {
		if !chosen(names, c.Name) {
			continue
		}
		s := section{scenario: c}
		for _, sys := range r.systems {
			fmt.Fprintf(progress, "%s: %s\n", c.Name, sys.Name)
			cells, err := c.of(ctx, sys, o.scale)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				r.failures = append(r.failures, fmt.Errorf("%s of %s: %w", c.Name, sys.Name, err))
				cells = failed(len(c.Head))
			}
			fmt.Fprintf(progress, "\t%s\n", strings.Join(cells, " | "))
			s.rows = append(s.rows, append([]string{sys.Name}, cells...))
		}
		r.sections = append(r.sections, s)
	}
	if len(r.sections) == 0 || len(r.systems) == 0 {
		return nil, errNoneChosen
	}
	r.took = time.Since(begun)
	return r, nil
}

// of runs the scenario with a system.
func (c scenario) of(ctx context.Context, sys system, scale float64) ([]string, error) {
	r, err := newRig(ctx, sys)
	if err != nil {
		return nil, err
	}
	defer r.close()
	cells, err := c.Run(ctx, r, scale)
	if err == nil && len(cells) != len(c.Head) {
		err = fmt.Errorf("%d cells, not %d", len(cells), len(c.Head))
	}
	return cells, err
}

// failed is the row of a system that could not be measured. The command says why.
func failed(cells int) []string {
	row := make([]string, cells)
	for i := range row {
		row[i] = none
	}
	row[0] = "**failed**"
	return row
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured with %s on %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if r.scale != 1 {
		fmt.Fprintf(&b, ", with `-scale %g`", r.scale)
	}
	fmt.Fprintf(&b, ", in %s.\n\n", r.took.Round(time.Second))
	for _, line := range r.left {
		fmt.Fprintf(&b, "%s\n\n", line)
	}
	settings := [][]string{{"system", "settings"}}
	for _, s := range r.systems {
		settings = append(settings, []string{s.Name, s.Settings})
	}
	b.WriteString(figures.Table(settings))
	for _, s := range r.sections {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s", s.Title, s.About, figures.Table(append([][]string{append([]string{""}, s.Head...)}, s.rows...)))
	}
	return b.String()
}

// The command writes what stands between these two lines of the page.
const (
	begin = "<!-- durablepeers: written by go run . -out ../../../docs/durable-peers.md -->\n"
	end   = "<!-- end of durablepeers -->\n"
)

func (r *report) replaceIn(page string) error {
	return figures.ReplaceBetween(page, begin, end, r.markdown())
}
