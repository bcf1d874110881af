// Command salvage reads what can be read of a directory of durable timers with damaged logs, and
// writes it as lines of JSON. It does not change the directory. No process may have it open. The
// server inside durable.Open can cut off what it finds damaged, so run the command before the
// directory is opened again, or on a copy from before.
//
//	go run ./salvage -dir /var/lib/shop/timers -out timers.jsonl
//
// Each line is a timer as Keyed.Export writes it, with its name and partition, and Keyed.Import reads it. But due is
// that of the next attempt, if others have failed. It is uncertain if frames are missing after the last one that says
// something of it: it may have ended, or been set, moved or removed since.
//
// What is wrong, and where, is told on the standard error. The exit status is 0 if nothing is
// wrong, 1 if something is, and 2 if nothing could be read.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/salvage"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const (
	whole = iota
	damaged
	unreadable
)

// run is the command. It returns the exit status.
func run(arguments []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("salvage", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", "", "the `directory` of the timers, Config.Dir")
	name := flags.String("name", "", "read the timers of this `name` only, Config.Name")
	out := flags.String("out", "", "write to this `file`, which must not exist, instead of the standard output")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return whole
		}
		return unreadable
	}
	var problem string
	switch {
	case flags.NArg() > 0:
		problem = fmt.Sprintf("unexpected arguments %q", flags.Args())
	case *dir == "":
		problem = "-dir is missing"
	}
	if problem != "" {
		fmt.Fprintln(stderr, "salvage:", problem)
		flags.Usage()
		return unreadable
	}
	status, err := write(*dir, *name, *out, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "salvage:", err)
		return unreadable
	}
	return status
}

// write writes the timers of a directory.
func write(dir, name, out string, stdout, stderr io.Writer) (status int, err error) {
	var file *os.File
	if out != "" {
		if file, err = os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		stdout = file
	}
	w := bufio.NewWriter(stdout)
	timers, problems := 0, 0
	err = salvage.Read(dir, name, func(l *salvage.Log) error {
		timers += len(l.Timers)
		problems += len(l.Problems)
		tell(stderr, l)
		return writeTimers(w, l)
	})
	if err = errors.Join(err, w.Flush()); err != nil {
		return 0, err
	}
	if problems == 0 {
		fmt.Fprintf(stderr, "salvage: %d timers, and nothing is wrong\n", timers)
		return whole, nil
	}
	fmt.Fprintf(stderr, "salvage: %d timers could be read, and %d things are wrong\n", timers, problems)
	return damaged, nil
}

// tell says what a log has.
func tell(stderr io.Writer, l *salvage.Log) {
	log := fmt.Sprintf("%s, partition %d", l.Name, l.Partition)
	dead, uncertain := 0, 0
	for _, t := range l.Timers {
		if t.Dead {
			dead++
		}
		if t.Uncertain {
			uncertain++
		}
	}
	fmt.Fprintf(stderr, "%s: %d frames, from %d to %d; %d timers, %d dead, %d uncertain\n",
		log, l.Frames, l.First, l.Last, len(l.Timers), dead, uncertain)
	for _, p := range l.Problems {
		fmt.Fprintf(stderr, "%s: %s\n", log, p)
	}
	for _, k := range l.Lost {
		fmt.Fprintf(stderr, "%s: the timer of the key %q has no value\n", log, k)
	}
}
