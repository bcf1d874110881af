// Command performance measures what timers cost, draws the pictures of
// docs/performance.md and writes its tables into it. It wants five minutes, five
// gigabytes of memory and a machine that does nothing else:
//
//	cd tests/peers && go run ./performance
//
// With -all it measures further libraries too, for the tables of docs/peers.md;
// that takes a quarter of an hour, with -rounds 1 five minutes.
//
// It runs benchmarks, those of package hierarchy and those in its own tests, each
// in a process of its own, all in turns in several rounds, and takes medians. What
// they print can be kept, to draw and write it again, or for benchstat:
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

// options say what to measure and where everything is.
type options struct {
	plan plan
	root string // the top of the repository
	own  string // tests of this package, compiled; if empty, they are compiled
	docs string // directory of the pages and pictures; if empty, tables are only printed
	from string // results of a run before, instead of measuring
	keep string // file for the results, if not empty
}

var errArguments = errors.New("there are no arguments")

func main() {
	o := options{root: "../.."}
	flag.StringVar(&o.docs, "o", "", "draw to this directory, and write tables into the pages that are there (default \"../../docs\", with -quick none)")
	flag.StringVar(&o.from, "from", "", "take what a run kept in this file, and measure nothing")
	flag.StringVar(&o.keep, "keep", "", "keep what the benchmarks print in this file")
	quick := flag.Bool("quick", false, "one round with fewer timers: see whether all works, in a minute")
	all := flag.Bool("all", false, "measure all libraries, for docs/peers.md too")
	rounds := flag.Int("rounds", 0, "measure all so many times (default 3, with -quick 1): benchstat wants six for its intervals")
	flag.Parse()
	o.plan = choose(*quick, *all)
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

func choose(quick, all bool) plan {
	p, peers := fullPlan, fullPeers
	if quick {
		p, peers = quickPlan, quickPeers
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

// run measures, then draws, writes and prints, and says on progress what it is at.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	raw, err := printed(ctx, o, progress)
	if err != nil {
		return err
	}
	r, err := read(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	own, peers := tables(r, families), tables(r, peerFamilies)
	if _, err := io.WriteString(out, report(slices.Concat(own, peers))); err != nil || o.docs == "" {
		return err
	}
	return errors.Join(
		drawPictures(o.docs, r),
		writeTables(filepath.Join(o.docs, "performance.md"), own),
		writeTables(filepath.Join(o.docs, "peers.md"), peers),
	)
}

// writeTables writes tables into the page at path, in the place of those with the
// same head, if there is such a page.
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
