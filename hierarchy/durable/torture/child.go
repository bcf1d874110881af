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

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// childEnv is the environment variable that turns a process into a worker. Its value is a childConfig.
const childEnv = "EPICYCLE_TORTURE_CHILD"

type childConfig struct{ Worker workerConfig }

// workerConfig is the configuration of a worker.
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
	Jumps      bool          // whether it sets timers that become due when a clock is set forward, or at the end
	Quiet      bool          // whether it calls no operations
	Calls      bool          // whether it is a caller, and owns nothing
	Dies       time.Duration // how long after its Open it dies. 0: it does not
}

// habits are the differences between the workers of different runs.
type habits struct {
	Far, GiveUp    bool          // see the modes of these names
	Talks, Silence time.Duration // by turns; 0: it always talks
	FarFrom        time.Duration // far timers are not due before
	Slower         int           // how many times as long the pauses between calls are. 0 is 1
	Remember       time.Duration // how long callers are remembered. 0: as usual
}

// beChild runs the child, and does not return, if another process of the command has started this one.
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
