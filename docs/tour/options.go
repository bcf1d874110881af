package main

import (
	"flag"
	"fmt"
	"io"
)

const usage = `usage: go run ./docs/tour [-short] [-http ADDRESS]

  -short         a tenth of the timers, in some two seconds
  -http ADDRESS  after the tour, keep a wheel running and show it live in a
                 browser, at an address such as 127.0.0.1:8420, until Ctrl-C

Colours are for terminals; NO_COLOR=1 turns them off.
`

// options are what the command was called with.
type options struct {
	short bool
	http  string // address to serve the live view at; empty: not
}

// parse returns flag.ErrHelp if help was asked for.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("tour", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.short, "short", false, "")
	flags.StringVar(&o.http, "http", "", "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("it takes no arguments but flags, and was given %q", flags.Args())
	}
	if o.http == "" && isSet(flags, "http") {
		return o, fmt.Errorf("-http needs an address, such as 127.0.0.1:8420")
	}
	return o, nil
}

func isSet(flags *flag.FlagSet, name string) (set bool) {
	flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}
