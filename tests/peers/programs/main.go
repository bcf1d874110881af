// Command programs runs whole programs, such as a server whose connections have an idle timeout, each with its timers on
// a wheel and with the best other ways. It writes what they cost into docs/programs.md:
//
//	cd tests/peers && go run ./programs
//
// It takes eleven minutes on an otherwise idle machine. Each run is in a process of its own. The ways of a program
// alternate in several rounds, and the figures are medians. A further program is a file like the others, and a line of
// programs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/zeromicro/go-zero/core/logx"
)

// options are the options of the command line.
type options struct {
	only   string
	rounds int
	size   func(program) size
	page   string // if empty, the report is only printed

	together int // how many processes run at the same time; figures need 1
}

var (
	errArguments = errors.New("the command takes no arguments, and numbers must be positive")
	errUnknown   = errors.New("no program has this name")
)

func main() {
	runIfChild()
	o := options{together: 1}
	quick := flag.Bool("quick", false, "run small programs once, to check within seconds that everything works, and write no page")
	flag.StringVar(&o.only, "only", "", "run only the programs with these `names`, as in tcp,cache, and write no page unless there is -out")
	scale := flag.Float64("scale", 1, "of numbers of things that take memory: less for a machine that is busy or small")
	flag.IntVar(&o.rounds, "rounds", 3, "number of rounds")
	flag.StringVar(&o.page, "out", "", "write into this `page` (default \"../../docs/programs.md\")")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 || *scale <= 0 {
		fail(errArguments, 2)
	}
	o.size = func(p program) size { return p.scaled(*scale) }
	if *quick {
		o = o.quick()
	} else if o.page == "" && o.only == "" {
		o.page = "../../docs/programs.md"
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fail(err, 1)
	}
}

// quick returns options to check that everything works. Their figures mean nothing.
func (o options) quick() options {
	o.rounds, o.together = 1, 4
	o.size = func(p program) size { return p.quick }
	return o
}

func fail(err error, status int) {
	fmt.Fprintln(os.Stderr, "programs:", err)
	os.Exit(status)
}

// run measures, prints and writes. run writes to progress what it is doing.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	all, err := chosen(o.only)
	if err != nil {
		return err
	}
	r, err := measure(ctx, all, o, progress)
	if err != nil {
		return err
	}
	text := r.markdown()
	if _, err := io.WriteString(out, text); err != nil || o.page == "" {
		return err
	}
	return r.replaceIn(o.page)
}

// chosen returns the programs with the given names, or all.
func chosen(names string) (all []program, err error) {
	if names == "" {
		return programs(), nil
	}
	for name := range strings.SplitSeq(names, ",") {
		p, ok := named(name)
		if !ok {
			return nil, fmt.Errorf("%w: %q", errUnknown, name)
		}
		all = append(all, p)
	}
	return all, nil
}

func init() { logx.Disable() } // go-zero logs its use of CPU once a minute
