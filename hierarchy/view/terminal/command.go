package terminal

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Command is a command with flags. Parse returns flag.ErrHelp if the user requests the usage with -h or -help.
type Command[O any] struct {
	Name, Usage string
	Parse       func(args []string) (O, error)
	Do          func(o O, stdout io.Writer) error
}

// The exit codes of a Command.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2 // the arguments are wrong
)

// Run is the whole command. It returns the exit code.
func (c Command[O]) Run(args []string, stdout, stderr io.Writer) int {
	o, err := c.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, c.Usage)
		return ExitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n\n%s", c.Name, err, c.Usage)
		return ExitUsage
	}
	if err := c.Do(o, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
		return ExitFailed
	}
	return ExitOK
}
