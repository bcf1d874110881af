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
	left     []string // lines about the systems that were left out
	sections []section
	spent    time.Duration // CPU time of all systems
	failures []error
	took     time.Duration
}

type section struct {
	scenario
	rows   [][]string
	others string // share of the machine that other processes took meanwhile
}

var errNoneChosen = errors.New("no scenario or no system is chosen, or what they need is not installed")

// measure runs the chosen scenarios with the systems that are installed.
func measure(ctx context.Context, o options, progress io.Writer) (*report, error) {
	begun := time.Now()
	r := &report{scale: o.scale}
	names, of, _ := strings.Cut(o.only, ":")
	r.choose(of)
	for _, c := range scenarios() {
		if !chosen(names, c.Name) {
			continue
		}
		s := section{scenario: c}
		others := r.watchOthers()
		for _, sys := range r.systems {
			fmt.Fprintf(progress, "%s: %s\n", c.Name, sys.Name)
			row, err := r.row(ctx, c, sys)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(progress, "\t%s\n", strings.Join(row[1:], " | "))
			s.rows = append(s.rows, row)
		}
		s.others = others()
		r.sections = append(r.sections, s)
	}
	if len(r.sections) == 0 || len(r.systems) == 0 {
		return nil, errNoneChosen
	}
	r.took = time.Since(begun)
	return r, nil
}

// choose chooses the systems that are installed.
func (r *report) choose(of string) {
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
}

// row returns a system's row of a table. It returns an error only if ctx ends. Other errors go to failures.
func (r *report) row(ctx context.Context, c scenario, sys system) ([]string, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	cells, spent, err := c.of(ctx, sys, r.scale)
	r.spent += spent
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.failures = append(r.failures, fmt.Errorf("%s of %s: %w", c.Name, sys.Name, err))
		cells = failed(len(c.Head))
	}
	return append([]string{sys.Name}, cells...), nil
}

// of runs the scenario with a system. It returns the cells, and the CPU time that the system took.
func (c scenario) of(ctx context.Context, sys system, scale float64) (cells []string, spent time.Duration, err error) {
	r, err := newRig(ctx, sys)
	if err != nil {
		return nil, 0, err
	}
	cells, err = c.Run(ctx, r, scale)
	if err == nil && len(cells) != len(c.Head) {
		err = fmt.Errorf("%d cells, not %d", len(cells), len(c.Head))
	}
	r.close()
	return cells, r.spent, err
}

// watchOthers returns a function that reports the CPU time that other programs have used since the call of watchOthers.
func (r *report) watchOthers() func() string {
	begun, busy, ours := time.Now(), busyCPU(), r.spent+ownCPU()
	return func() string {
		others := busyCPU() - busy - (r.spent + ownCPU() - ours)
		if busy == 0 {
			return ""
		}
		return fmt.Sprintf("Meanwhile other programs took %.1f of %d cores.", max(0, float64(others)/float64(time.Since(begun))), runtime.NumCPU())
	}
}

// failed returns the row of a system that could not be measured. The command prints the reason.
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
		fmt.Fprintf(&b, "\n### %s\n\n%s %s\n\n%s", s.Title, s.About, s.others, figures.Table(append([][]string{append([]string{""}, s.Head...)}, s.rows...)))
	}
	return b.String()
}
