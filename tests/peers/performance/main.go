// Command performance measures what timers cost, draws the pictures of
// docs/performance.md, and writes the tables into that page. It needs five minutes, five
// gigabytes of memory and an otherwise idle machine:
//
//	cd tests/peers && go run ./performance
//
// With -all it also measures further libraries, for the tables of docs/peers.md. That takes a quarter of an hour, or
// five minutes with -rounds 1. With -driven it measures only a hierarchy.Driven and the structures with which other
// projects expire their entries, for the same page. That takes three minutes.
//
// It runs the benchmarks of package hierarchy and the benchmarks in its own tests, each in a process of its own. The
// benchmarks alternate in several rounds, and the figures are medians. The output of the benchmarks can be saved, to
// make pictures and tables from it again, or for benchstat:
//
//	go run ./performance -keep results.txt -rounds 6
//	go run ./performance -from results.txt
//	go tool benchstat -filter .name:SetStop -row /n -col /impl results.txt
//	go tool benchstat before.txt after.txt
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// options determine what is measured, and where the files are.
type options struct {
	plan plan
	root string // the top of the repository
	own  string // compiled tests of this package; if empty, they are compiled first
	docs string // directory of the pages and pictures; if empty, tables are only printed
	from string // results of an earlier run to use instead of measuring
	keep string // file to save the results in, if not empty
}

var (
	errArguments  = errors.New("the command takes no arguments")
	errUnmeasured = errors.New("not all was measured, so the pages are left as they are")
)

func main() {
	o := options{root: "../.."}
	flag.StringVar(&o.docs, "o", "", "draw to this directory, and write tables into the pages in it (default \"../../docs\"; with -quick, none)")
	flag.StringVar(&o.from, "from", "", "use the results in this file instead of measuring")
	flag.StringVar(&o.keep, "keep", "", "save the output of the benchmarks in this file")
	quick := flag.Bool("quick", false, "measure one round with fewer timers, to check within a minute that everything works")
	all := flag.Bool("all", false, "measure all libraries, also for docs/peers.md")
	driven := flag.Bool("driven", false, "measure only Driven, for docs/peers.md")
	rounds := flag.Int("rounds", 0, "number of rounds (default 3; with -quick, 1); benchstat needs six for its intervals")
	flag.Parse()
	o.plan = choose(*quick, *all, *driven)
	if *rounds > 0 {
		o.plan.rounds = *rounds
	}
	if o.docs == "" && !*quick {
		o.docs = "../../docs"
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

func choose(quick, all, driven bool) plan {
	p, peers, lives := fullPlan, fullPeers, fullLives
	if quick {
		p, peers, lives = quickPlan, quickPeers, quickLives
	}
	if driven {
		return lives
	}
	if all {
		p.peers = peers
	}
	return p
}

func fail(err error, status int) {
	fmt.Fprintln(os.Stderr, "performance:", err)
	os.Exit(status)
}

// run measures, then draws, writes and prints. run writes to progress what it is doing.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	raw, err := printed(ctx, o, progress)
	if err != nil {
		return err
	}
	r, err := read(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	own, peers := tables(r, families), tables(r, slices.Concat(peerFamilies, lifeFamilies))
	if _, err := io.WriteString(out, report(slices.Concat(own, peers))); err != nil || o.docs == "" {
		return err
	}
	if len(unmeasured(raw)) > 0 {
		return errUnmeasured
	}
	return errors.Join(
		drawPictures(o.docs, r),
		writeTables(filepath.Join(o.docs, "performance.md"), own),
		writeTables(filepath.Join(o.docs, "peers.md"), peers),
	)
}

// writeTables replaces the tables with the same heads in the page at path. If there is no
// such page, it does nothing.
func writeTables(path string, tables [][][]string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	page := string(text)
	for _, rows := range tables {
		if page, err = figures.ReplaceTable(page, rows); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, []byte(page), 0o644)
}

// printed returns the output of the benchmarks, from this run or a saved one. If a benchmark
// fails, the output up to then is saved too.
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
