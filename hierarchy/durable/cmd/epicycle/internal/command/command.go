// Package command implements the command line.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	ok       = 0
	notFound = 1
	usage    = 2
	failed   = 3
)

// exit is an error with an exit code.
type exit struct {
	code int
	error
}

func (e *exit) Unwrap() error { return e.error }

// usageError returns an error for a mistake in the command line.
func usageError(format string, args ...any) error { return &exit{usage, fmt.Errorf(format, args...)} }

// streams are the standard streams of a process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command line, and returns the exit code.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, args, streams{in, out, errs})
}

func run(ctx context.Context, args []string, std streams) int {
	root := root(std)
	root.SetArgs(normalise(root, args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ok
	}
	var e *exit
	if !errors.As(err, &e) { // cobra's own errors are about flags, arguments and names of commands
		e = &exit{usage, err}
	}
	fmt.Fprintln(std.err, "epicycle:", err)
	if e.code == usage {
		fmt.Fprintln(std.err, "epicycle help shows the commands, and epicycle COMMAND -help its flags")
	}
	return e.code
}

func root(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "epicycle",
		Short:         "Durable timers for programs in any language",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.AddCommand(
		serveCommand(std), setCommand(std), getCommand(std), listCommand(std), moveCommand(std), removeCommand(std),
		deadCommand(std), reviveCommand(std), runCommand(std), tailCommand(std), takeCommand(std), doneCommand(std), failCommand(std),
		pauseCommand(std), resumeCommand(std), limitCommand(std), limitsCommand(std),
		exportCommand(std), importCommand(std), salvageCommand(std), topCommand(std), benchCommand(std), secretCommand(std),
		versionCommand(std),
	)
	return root
}

// normalise gives long flags the second dash that pflag expects, since the flags of this program are written as Go's
// are. It changes only names of flags, and nothing after --.
func normalise(root *cobra.Command, args []string) []string {
	known := map[string]bool{"help": true}
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		for _, sub := range c.Commands() {
			collect(sub)
		}
	}
	collect(root)
	all := make([]string, len(args))
	for i, arg := range args {
		if arg == "--" {
			copy(all[i:], args[i:])
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && known[name] {
			arg = "-" + arg
		}
		all[i] = arg
	}
	return all
}

// Version returns the version of this program, or "unknown".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

func versionCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(std.out, "epicycle", Version())
			return err
		},
	}
}
