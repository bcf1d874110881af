// Command tour demonstrates the library: setting and cancelling a million timers, how late
// timers are, a burst, a year in a second, and moving timers. It takes measurements along
// the way and compares them with package time. It runs for about ten seconds.
//
// With -http, the command then keeps a wheel running and shows the wheel in a browser.
package main

import (
	"fmt"
	"io"
	"net"
	"os"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole command.
func run(args []string, stdout, stderr io.Writer) int {
	return terminal.Command[options]{Name: "tour", Usage: usage, Parse: parse, Do: func(o options, out io.Writer) error {
		return show(o, terminal.New(out, os.Getenv))
	}}.Run(args, stdout, stderr)
}

// show gives the tour, and then the live view if the user asked for it. It listens before the tour, so that an address
// that can't be used is reported before the tour begins.
func show(o options, s *terminal.Screen) error {
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
	return live(s, at, o.http)
}
