//go:build linux

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/epicycle-go/epicycle/docs/terminal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// childEnv is the environment variable that makes a process a worker. Its value is a childConfig. Workers of other
// versions, which may run beside this one, use the same variable.
const childEnv = "EPICYCLE_TORTURE_CHILD"

type childConfig struct{ Worker workerConfig }

// workerConfig is what a worker needs to know.
type workerConfig struct {
	habits
	Number     int
	Seed       uint64
	URLs       string
	Dir        string // instead of URLs
	Partitions int
	Lease      time.Duration
	Keys       int
	Records    string        // the path of its file
	Zero       int64         // see wallZero
	Offset     int64         // of its wall clock
	Jumps      bool          // it sets timers that are due when a clock is set forward, or in the end
	Quiet      bool          // it calls for no operations
	Calls      bool          // it owns nothing
	Dies       time.Duration // after its Open. 0: it does not
}

// habits are what the workers of a run do differently.
type habits struct {
	Far, GiveUp    bool          // see the modes of these names
	Talks, Silence time.Duration // by turns; 0: it always talks
	FarFrom        time.Duration // far timers are not due before
	Slower         int           // so many times as long is waited between calls. 0 is 1
	Remember       time.Duration // how long callers are remembered. 0: as usual
}

// beChild does not return in a process that another one has started.
func beChild() {
	servers.Main()
	child.Main(childEnv, func(cfg childConfig, in io.Reader, _ io.Writer) error { return runWorker(cfg.Worker, in) })
}

// told executes a line of the input.
func (w *worker) told(line string) {
	switch what, rest, _ := strings.Cut(line, " "); what {
	case "read":
		go w.read()
	case "finish":
		go w.finish()
	case "clock":
		by, err := time.ParseDuration(rest)
		if err != nil {
			panic("torture: " + err.Error())
		}
		w.setClock(by)
	}
}

// runWorker runs a worker. It returns when its input ends, since its parent has ended then.
func runWorker(cfg workerConfig, in io.Reader) error {
	lines := make(chan string)
	go func() {
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
	}()
	leave := make(chan os.Signal, 1)
	signal.Notify(leave, syscall.SIGTERM)
	w, err := newWorker(cfg)
	if err != nil {
		return err
	}
	go func() {
		// SIGTERM also ends a worker that is not open yet.
		if !w.open(context.Background()) {
			os.Exit(terminal.ExitFailed)
		}
	}()
	for {
		select {
		case line, more := <-lines:
			if !more {
				return nil
			}
			w.told(line)
		case <-leave:
			w.leave()
			return nil
		}
	}
}
