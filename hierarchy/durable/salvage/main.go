// Command salvage reads what is readable in a directory of durable timers with damaged logs, and writes it as lines of
// JSON. It does not change the directory. No process may have the directory open.
//
//	go run ./salvage -dir /var/lib/shop/timers -out timers.jsonl
//
// Instead of -dir, it takes segments of its logs, such as logs/timers/0000000000000001.seg, or copies of them. durable.Salvage
// documents the lines.
//
// Problems, with their places in the files, are written to the standard error. The exit status is 0 if there are no
// problems, 1 if there are problems, and 2 if nothing could be read.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const (
	whole = iota
	damaged
	unreadable
)

// run runs the command. It returns the exit status.
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
	from := flags.Args()
	if *dir != "" {
		from = append(from, *dir)
	}
	if len(from) == 0 || *dir != "" && len(from) > 1 {
		fmt.Fprintln(stderr, "salvage: there must be either -dir or files")
		flags.Usage()
		return unreadable
	}
	status, err := write(from, *name, *out, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "salvage:", err)
		return unreadable
	}
	return status
}

// write writes the timers of a directory, or of files.
func write(from []string, name, out string, stdout, stderr io.Writer) (status int, err error) {
	var file *os.File
	if out != "" {
		if file, err = os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		stdout = file
	}
	timers, problems := 0, 0
	err = durable.Salvage(stdout, name, func(s durable.Salvaged) error {
		timers += s.Timers
		problems += len(s.Problems)
		tell(stderr, &s)
		return nil
	}, from...)
	if err != nil {
		return 0, err
	}
	if problems == 0 {
		fmt.Fprintf(stderr, "salvage: %d timers, and nothing is wrong\n", timers)
		return whole, nil
	}
	fmt.Fprintf(stderr, "salvage: %d timers could be read, and %d things are wrong\n", timers, problems)
	return damaged, nil
}

// tell prints what was found in one log.
func tell(stderr io.Writer, s *durable.Salvaged) {
	log := cmp.Or(s.Name, "a log without a name")
	fmt.Fprintf(stderr, "%s: %d frames, from %d to %d; %d timers, %d dead, %d uncertain\n",
		log, s.Frames, s.First, s.Last, s.Timers, s.Dead, s.Uncertain)
	for _, p := range s.Problems {
		fmt.Fprintf(stderr, "%s: %s\n", log, p)
	}
	for _, k := range s.Lost {
		fmt.Fprintf(stderr, "%s: the timer of the key %q has no value\n", log, k)
	}
}
