// Command precision measures how late timers fire and what they cost, draws
// docs/precision.svg, and prints the tables of docs/precision.md. It needs Linux, a minute,
// and an otherwise idle machine:
//
//	cd tests/peers && go run ./precision
//
// The implementations take turns in several rounds, so that other work of the machine
// affects them all alike.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// options determine the number of turns of each implementation and, where CPU time is measured, the length of a turn.
type options struct {
	picture string // path of the picture to draw

	timers, rounds       int // number of timers for each curve, and of the turns in which they are set
	crowdTurns, lowTurns int
	crowdTurn, lowTurn   time.Duration
}

var errOptions = errors.New("-n must be at least 1, and the command takes no arguments")

func main() {
	o := options{
		rounds:     5,
		crowdTurns: 5, crowdTurn: time.Second,
		lowTurns: 3, lowTurn: time.Second,
	}
	flag.StringVar(&o.picture, "o", "../../docs/precision.svg", "draw to this file")
	flag.IntVar(&o.timers, "n", 200, "timers per curve")
	flag.Parse()
	if flag.NArg() > 0 || o.timers < 1 {
		fail(errOptions, 2)
	}
	if err := run(o, os.Stdout, os.Stderr); err != nil {
		fail(err, 1)
	}
}

func fail(err error, status int) {
	fmt.Fprintln(os.Stderr, "precision:", err)
	os.Exit(status)
}

// run measures, then draws, then prints. run writes to progress what it is doing.
func run(o options, out, progress io.Writer) error {
	if _, err := cpuTime(); err != nil {
		return err
	}
	panels, err := measurePanels(o, progress)
	if err != nil {
		return err
	}
	costs, err := measureCosts(o, progress)
	if err != nil {
		return err
	}
	if err := drawPicture(o.picture, panels); err != nil {
		return err
	}
	_, err = io.WriteString(out, report(o, panels, costs))
	return err
}
