//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// world is one run: its servers, its workers, the network between them, and what has happened to them.
type world struct {
	options
	dir   string
	out   io.Writer
	begun time.Time
	clock steady

	saying sync.Mutex // guards out

	servers []*node
	routes  map[[2]int]*link // between two servers

	mu      sync.Mutex
	workers map[int]*member // those that have not ended
	numbers int             // how many workers were started
	happen  []judge.Event
	problem []string // problems that are not caused by the faults
	busy    int      // how many faults are in progress
	over    bool     // workers that end are not replaced
	wg      sync.WaitGroup
}

// log returns the path of the file with the output of a process.
func (w *world) log(name string) string { return filepath.Join(w.dir, name+".txt") }

// node is a server.
type node struct {
	cfg     servers.Config
	mu      sync.Mutex
	process *servers.Process
	faults  int // how many faults keep it down
}

func (w *world) say(format string, args ...any) {
	if w.verbose {
		w.saying.Lock()
		defer w.saying.Unlock()
		fmt.Fprintf(w.out, "%7.2fs "+format+"\n", append([]any{time.Since(w.begun).Seconds()}, args...)...)
	}
}

const (
	startTime   = time.Minute     // for starting all servers and workers
	pauseFailed = time.Second     // before a worker starts in place of one that could not open the timers
	warmTime    = 2 * time.Second // before the first fault
	idleTime    = time.Minute     // until everything has fired after the last fault
)

// run performs the run. An error means that the run could not be performed.
func (w *world) run(ctx context.Context) error {
	if err := w.startServers(); err != nil {
		return err
	}
	w.workers = make(map[int]*member)
	for range w.options.workers {
		if err := w.startWorker(); err != nil {
			return err
		}
	}
	if err := w.await(ctx, startTime, judge.IsOpen); err != nil {
		return err
	}
	if err := sleep(ctx, warmTime); err != nil {
		return err
	}
	w.say("faults begin")
	if err := w.faults(ctx); err != nil {
		return err
	}
	w.say("faults end")
	if err := w.await(ctx, startTime, judge.IsOpen); err != nil {
		w.broke("after all faults had ended: %v", err)
		return nil
	}
	if err := w.finish(ctx); err != nil {
		w.broke("after all faults had ended: %v", err)
	}
	w.say("idle")
	return ctx.Err()
}

// sleep waits for d. It returns ctx's error if ctx is done first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return errors.New("interrupted")
	}
}

func (w *world) broke(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problem = append(w.problem, fmt.Sprintf(format, args...))
}

// end ends all processes.
func (w *world) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	for _, m := range w.all() {
		m.process.End()
	}
	w.wg.Wait()
	for _, n := range w.servers {
		if n.process != nil {
			n.process.Kill()
		}
	}
	for _, l := range w.routes {
		l.close()
	}
}
