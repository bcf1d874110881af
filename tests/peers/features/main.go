// Command features checks which promises each timer library keeps, and prints the
// results as tables, and how promises were broken:
//
//	cd tests/peers && go run ./features
//
// With -o it writes the tables, without how, into docs/peers.md, between the marks that
// are there. It takes about half a minute. Each check runs in a process of its own,
// because some libraries crash it and some never return.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
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
	if page != "" {
		return figures.ReplaceBetween(page, begin, end, tables.markdown(false))
	}
	_, err = io.WriteString(out, tables.markdown(true))
	return err
}
