// Command demo shows what durable timers promise. It starts a process that sets thousands of
// timers and removes some, kills it with kill -9 in the middle of that, and starts another one with
// the same directory, twice. It keeps a record of what the processes acknowledged and of what
// fired, and compares the two in the end. It runs for about eight seconds.
//
// With -cluster it shows the timers of several workers on several servers, of which some are killed or
// stopped. This takes less than a minute.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

func main() {
	beChild()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// beChild runs the child, and does not return, if another process of the demo has started this one.
func beChild() {
	servers.Main()
	child.Main(childEnv, runSetter)
}

// run runs the whole command.
func run(args []string, stdout, stderr io.Writer) int {
	c := terminal.Command[options]{Name: "demo", Usage: usage, Parse: parse, Do: func(o options, out io.Writer) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		return show(ctx, o, terminal.New(out, os.Getenv))
	}}
	return c.Run(args, stdout, stderr)
}

// show runs the demo in its directory.
func show(ctx context.Context, o options, s *terminal.Screen) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "epicycle-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	if o.cluster {
		return (&clusterDemo{Screen: s, options: o}).give(ctx)
	}
	return (&demo{Screen: s, options: o}).give(ctx)
}
