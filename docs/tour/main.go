// Command tour shows the library at work: a million timers set and cancelled, how
// late timers are, a burst, a year in a second, and timers that are moved. It measures
// as it goes, next to package time, in some ten seconds.
//
// With -http it then keeps a wheel running and shows it in a browser.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// What run returns, for the process to end with.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// run is the whole command.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "tour: %v\n\n%s", err, usage)
		return exitUsage
	}
	if err := show(o, newScreen(stdout, os.Getenv)); err != nil {
		fmt.Fprintln(stderr, "tour:", err)
		return exitFailed
	}
	return exitOK
}

// show gives the tour, and then the live view if that is wanted. Its address is taken
// first: who can't have it should not learn so at the end.
func show(o options, s *screen) error {
	if o.http == "" {
		return newTour(o, s).give()
	}
	at, err := net.Listen("tcp", o.http)
	if err != nil {
		return fmt.Errorf("-http %s can't be served: %w", o.http, err)
	}
	defer at.Close()
	if err := newTour(o, s).give(); err != nil {
		return err
	}
	return live(s, at)
}
