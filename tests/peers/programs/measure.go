package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// measured is a program with the figures of each way.
type measured struct {
	program
	size size
	of   []result
}

// measure runs programs. The ways of a program alternate, so that other work of the machine affects them all alike.
func measure(ctx context.Context, all []program, o options, progress io.Writer) (r report, err error) {
	defer func() { err = errors.Join(err, built.remove()) }()
	r = report{rounds: o.rounds}
	others := watchOthers()
	for _, p := range all {
		m := measured{program: p, size: o.size(p)}
		runs := make([][]result, len(p.ways))
		for round := range o.rounds {
			fmt.Fprintf(progress, "%s, round %d of %d\n", p.name, round+1, o.rounds)
			if err := m.round(ctx, o.together, runs); err != nil {
				return r, err
			}
		}
		for _, of := range runs {
			m.of = append(m.of, middle(of))
		}
		if err := m.agree(); err != nil {
			return r, err
		}
		r.programs = append(r.programs, m)
	}
	r.others = others()
	return r, nil
}

// round runs the program once in each way, some of them at the same time.
func (m measured) round(ctx context.Context, together int, runs [][]result) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(together)
	for i, w := range m.ways {
		g.Go(func() error {
			f, err := task{Program: m.name, Way: w.name, Size: m.size}.do(ctx)
			runs[i] = append(runs[i], f)
			return err
		})
	}
	return g.Wait()
}

var errDiffer = errors.New("not all ways have the same result")

func (m measured) agree() error {
	for _, f := range m.of {
		if f.Sum != m.of[0].Sum {
			return fmt.Errorf("%s: %w", m.name, errDiffer)
		}
	}
	return nil
}

// middle returns the median of each figure.
func middle(of []result) result {
	return result{
		N:     median(of, func(f result) int { return f.N }),
		Work:  median(of, func(f result) int { return f.Work }),
		Took:  median(of, func(f result) time.Duration { return f.Took }),
		CPU:   median(of, func(f result) time.Duration { return f.CPU }),
		Bytes: median(of, func(f result) float64 { return f.Bytes }),
		Late:  median(of, func(f result) time.Duration { return f.Late }),
		Sum:   median(of, func(f result) uint64 { return f.Sum }),
		GC:    median(of, func(f result) time.Duration { return f.GC }),
	}
}

func median[T cmp.Ordered](of []result, value func(result) T) T {
	var all []T
	for _, f := range of {
		all = append(all, value(f))
	}
	return figures.Median(all)
}
