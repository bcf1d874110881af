// Command features tries which promises each library of timers keeps, and prints
// what it found as tables:
//
//	cd tests/peers && go run ./features
//
// With -o it writes them into docs/peers.md, between the marks that are there. It
// takes about half a minute. Each check is made in a process of its own: some end
// it, and some never return.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

func main() {
	runIfChild()
	page := flag.String("o", "", "write the tables into this page: ../../docs/peers.md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *page, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, page string, out io.Writer) error {
	tables, err := tryAll(ctx, contender.All, checks)
	if err != nil {
		return err
	}
	text := tables.markdown()
	if page != "" {
		return replaceInPage(page, text)
	}
	_, err = io.WriteString(out, text)
	return err
}
