//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

const usage = `usage: go run ./torture [flags]

  -for DURATION    how long faults happen in a run, default 20s. A run takes some 15s more
  -runs N          runs, one after the other, with following seeds, default 1
  -seed N          draws faults and operations, default 1. The same seed draws the same, as
                   far as processes allow
  -workers N       processes that share the timers, default 3
  -servers N       NATS servers, 1, 3 or 5, default 3
  -partitions N    default 4
  -lease DURATION  default 2s
  -keys N          on how many keys operations are compared with each other, default 8
  -only WORDS      only the faults whose names contain one of WORDS, with commas between: join,kill
  -dir DIRECTORY   make the directories of the runs there, default: the temporary directory
  -keep            keep the files of each run. Those with a broken promise are always kept
  -v               say each fault as it happens

The exit status is 1 if a promise was broken.
`

// options are the flags of the command.
type options struct {
	length     time.Duration
	runs       int
	seed       uint64
	workers    int
	servers    int
	partitions int
	lease      time.Duration
	keys       int
	only       string
	dir        string
	keep       bool
	verbose    bool
}

// parse returns flag.ErrHelp if the user asked for help.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&o.length, "for", 20*time.Second, "")
	flags.IntVar(&o.runs, "runs", 1, "")
	flags.Uint64Var(&o.seed, "seed", 1, "")
	flags.IntVar(&o.workers, "workers", 3, "")
	flags.IntVar(&o.servers, "servers", 3, "")
	flags.IntVar(&o.partitions, "partitions", 4, "")
	flags.DurationVar(&o.lease, "lease", 2*time.Second, "")
	flags.IntVar(&o.keys, "keys", 8, "")
	flags.StringVar(&o.only, "only", "", "")
	flags.StringVar(&o.dir, "dir", "", "")
	flags.BoolVar(&o.keep, "keep", false, "")
	flags.BoolVar(&o.verbose, "v", false, "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected arguments %q", flags.Args())
	}
	return o, o.check()
}

func (o *options) check() error {
	switch {
	case o.length < time.Second:
		return fmt.Errorf("-for %v is shorter than 1s", o.length)
	case o.runs < 1:
		return fmt.Errorf("-runs %d is not positive", o.runs)
	case o.workers < 1 || o.workers > 32:
		return fmt.Errorf("-workers %d is not between 1 and 32", o.workers)
	case o.servers != 1 && o.servers != 3 && o.servers != 5:
		return fmt.Errorf("-servers %d is not 1, 3 or 5", o.servers)
	case o.partitions < 1 || o.partitions > 64:
		return fmt.Errorf("-partitions %d is not between 1 and 64", o.partitions)
	case o.lease < 500*time.Millisecond || o.lease > time.Minute:
		return fmt.Errorf("-lease %v is not between 500ms and 1m", o.lease)
	case o.keys < 1 || o.keys > 1000:
		return fmt.Errorf("-keys %d is not between 1 and 1000", o.keys)
	}
	if len(o.weights()) == 0 {
		return fmt.Errorf("-only %q is in the name of no fault that can happen", o.only)
	}
	return o.checkFiles()
}

func (o *options) checkFiles() error {
	if o.dir == "" {
		return nil
	}
	if at, err := os.Stat(o.dir); err != nil {
		return fmt.Errorf("-dir %s can't be used: %w", o.dir, err)
	} else if !at.IsDir() {
		return errors.New("-dir " + o.dir + " is not a directory")
	}
	return nil
}

// again returns the command that repeats the run.
func (o *options) again() string {
	s := fmt.Sprintf("go run ./torture -for %v -seed %d -workers %d -servers %d -partitions %d -lease %v -keys %d",
		o.length, o.seed, o.workers, o.servers, o.partitions, o.lease, o.keys)
	if o.only != "" {
		s += fmt.Sprintf(" -only '%s'", o.only)
	}
	return s
}
