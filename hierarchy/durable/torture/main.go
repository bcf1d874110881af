//go:build linux

// Command torture runs durable timers on a cluster of this machine, while random faults happen to its
// servers, its workers and the network between them. Servers and workers are processes.
// What the workers were answered and what fired is recorded, and judged by the promises in the end.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

func main() {
	beChild()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the whole command.
func run(args []string, stdout, stderr io.Writer) int {
	c := terminal.Command[options]{Name: "torture", Usage: usage, Parse: parse, Do: func(o options, out io.Writer) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		failed, err := torture(ctx, o, out)
		if err == nil && failed > 0 {
			err = fmt.Errorf("promises were broken in %d of %d runs", failed, o.runs)
		}
		return err
	}}
	return c.Run(args, stdout, stderr)
}

// torture performs all runs, and counts those in which a promise was broken.
func torture(ctx context.Context, o options, out io.Writer) (failed int, err error) {
	var total judge.Report
	for i := range o.runs {
		one := o
		one.seed += uint64(i)
		r, err := once(ctx, one, out)
		if err != nil {
			return failed, fmt.Errorf("seed %d: %w", one.seed, err)
		}
		if r.IsBroken() {
			failed++
		}
		total.Add(r)
	}
	if o.runs > 1 {
		fmt.Fprintf(out, "\n%d runs, %d with broken promises\n", o.runs, failed)
		total.Write(out)
	}
	return failed, nil
}

// once performs one run. Its files are kept if a promise was broken.
func once(ctx context.Context, o options, out io.Writer) (*judge.Report, error) {
	dir, err := os.MkdirTemp(o.dir, "epicycle-torture-")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "seed %d, %v, in %s\n", o.seed, o.length, dir)
	w := &world{options: o, dir: dir, out: out, begun: time.Now(), clock: newSteady(wallZero())}
	problem := w.run(ctx)
	w.end()
	if problem != nil {
		return nil, fmt.Errorf("%w: see %s", problem, dir)
	}
	r, err := w.judge()
	if err != nil {
		return nil, err
	}
	r.Write(out)
	if r.IsBroken() || o.keep {
		fmt.Fprintf(out, "The files are in %s. To run it again: %s\n", dir, o.again())
		return r, nil
	}
	return r, os.RemoveAll(dir)
}
