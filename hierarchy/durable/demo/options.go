package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

const usage = `usage: go run ./demo [-cluster] [-dir DIRECTORY]

  -cluster        show several workers that share timers on several servers
  -dir DIRECTORY  keep the timers' files there. It must be empty, or not exist yet.
                  By default they are in a temporary directory, which is removed

The demo ends by itself, after about eight seconds, or within a minute with -cluster. Its exit status is 1 if a timer
was lost, came twice without saying so, came early, or came after it was removed.
Output to a terminal is coloured; NO_COLOR=1 turns colours off.
`

// options are the flags of the command, and settings that tests change.
type options struct {
	dir     string // empty: a temporary one
	kept    bool   // the user has named dir
	cluster bool
	life    time.Duration // of a process, from when it is open to the kill
}

const defaultLife = 1500 * time.Millisecond

// parse returns flag.ErrHelp if the user asked for help.
func parse(args []string) (o options, err error) {
	o.life = defaultLife
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.cluster, "cluster", false, "")
	flags.StringVar(&o.dir, "dir", "", "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected arguments %q", flags.Args())
	}
	flags.Visit(func(f *flag.Flag) { o.kept = o.kept || f.Name == "dir" })
	if !o.kept {
		return o, nil
	}
	return o, checkDir(o.dir)
}

// checkDir checks that a directory can be used. It must not have timers of an earlier run, which this run would not
// know.
func checkDir(dir string) error {
	if dir == "" {
		return errors.New("-dir needs a directory")
	}
	switch files, err := os.ReadDir(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("-dir %s can't be used: %w", dir, err)
	case len(files) > 0:
		return fmt.Errorf("-dir %s is not empty", dir)
	}
	return nil
}
