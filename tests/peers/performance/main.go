// Command performance measures what timers cost, draws the pictures of
// docs/performance.md and prints its tables. It wants six minutes, five gigabytes
// of memory and a machine that does nothing else:
//
//	cd tests/peers && go run ./performance
//
// It runs benchmarks, those of package hierarchy and those in its own tests, each
// in a process of its own, all in turns in several rounds, and takes medians. What
// they print can be kept, for benchstat or to draw it again:
//
//	go run ./performance -keep results.txt
//	go run ./performance -from results.txt
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// options say what to measure and where everything is.
type options struct {
	plan plan
	root string // the top of the repository
	own  string // tests of this package, compiled; if empty, they are compiled
	docs string // directory to draw to
	from string // results of a run before, instead of measuring
	keep string // file for the results, if not empty
}

var errArguments = errors.New("there are no arguments")

func main() {
	o := options{plan: fullPlan, root: "../.."}
	flag.StringVar(&o.docs, "o", "../../docs", "draw to this directory")
	flag.StringVar(&o.from, "from", "", "take what a run kept in this file, and measure nothing")
	flag.StringVar(&o.keep, "keep", "", "keep what the benchmarks print in this file")
	quick := flag.Bool("quick", false, "one round with fewer timers: see whether all works, in a minute")
	flag.Parse()
	if *quick {
		o.plan = quickPlan
	}
	if flag.NArg() > 0 {
		fail(errArguments, 2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fail(err, 1)
	}
}

func fail(err error, status int) {
	fmt.Fprintln(os.Stderr, "performance:", err)
	os.Exit(status)
}

// run measures, then draws, then prints, and says on progress what it is at.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	raw, err := printed(ctx, o, progress)
	if err != nil {
		return err
	}
	r, err := read(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if err := drawPictures(o.docs, r); err != nil {
		return err
	}
	_, err = io.WriteString(out, report(r))
	return err
}

// printed is what benchmarks print, now or before. What there is when one fails
// is kept too.
func printed(ctx context.Context, o options, progress io.Writer) ([]byte, error) {
	if o.from != "" {
		return os.ReadFile(o.from)
	}
	var raw bytes.Buffer
	err := measure(ctx, o, &raw, progress)
	if o.keep != "" {
		err = errors.Join(err, os.WriteFile(o.keep, raw.Bytes(), 0o644))
	}
	return raw.Bytes(), err
}
