//go:build linux

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/signal"
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
	Number     int
	Seed       uint64
	URLs       string
	Partitions int
	Lease      time.Duration
	Keys       int
	Records    string // the path of its file
	Zero       int64  // of its clock
}

// beChild runs the child, and does not return, if another process of the command has started this one.
func beChild() {
	servers.Main()
	child.Main(childEnv, func(cfg childConfig, in io.Reader, _ io.Writer) error { return runWorker(cfg.Worker, in) })
}

// told executes a line of the input.
func (w *worker) told(line string) {
	switch line {
	case "read":
		go w.read()
	case "finish":
		go w.finish()
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
