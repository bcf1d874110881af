package main

import (
	"flag"
	"fmt"
	"io"
)

const usage = `usage: go run ./docs/tour [-short] [-http ADDRESS]

  -short         use a tenth of the timers; takes about two seconds
  -http ADDRESS  after the tour, keep a wheel running and show it live in a
                 browser, at an address such as 127.0.0.1:8420, until Ctrl-C

Output to a terminal is coloured; NO_COLOR=1 turns colours off.
`

// options are the flags of the command.
type options struct {
	short bool
	http  string // address of the live view; empty for none
}

// parse returns flag.ErrHelp if the user asked for help.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("tour", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.short, "short", false, "")
	flags.StringVar(&o.http, "http", "", "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected arguments %q", flags.Args())
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
