//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/servers"
)

// world is one run: its servers, workers, the network between them, and what has happened to them.
type world struct {
	options
	dir   string
	out   io.Writer
	begun int64
	zero  int64 // see wallZero

	servers []*node
	routes  map[[2]int]*link // between two servers

	mu      sync.Mutex
	workers map[int]*member // that were not ended
	numbers int             // of workers that were begun
	happen  []event
	problem []string     // that are no fault of this program's
	busy    int          // faults that go on
	copies  atomic.Int64 // messages that were sent again
	over    bool         // workers that end are not replaced
	last    bool         // workers that begin now are the last: see renew
	wg      sync.WaitGroup
}

// node is a server.
type node struct {
	cfg     servers.Config
	mu      sync.Mutex
	process *process
	faults  int // that keep it down
}

// member is a worker.
type member struct {
	number  int
	process *process
	links   []*link         // to each server
	path    string          // of its records
	read    int64           // how much of them await has read
	kinds   map[string]bool // of what it has read
}

// event is something that happened, with the times when it began and ended.
type event struct {
	Fault    string `json:"fault"`
	Worker   int    `json:"worker,omitempty"`
	Server   int    `json:"server,omitempty"` // from 1
	From, To int64  // ns, CLOCK_MONOTONIC

	By time.Duration `json:"by,omitempty"` // of a clock that is set
}

func (e *event) by() string {
	if e.By == 0 {
		return ""
	}
	return fmt.Sprintf(", by %v", e.By)
}

func (w *world) say(format string, args ...any) {
	if w.verbose {
		fmt.Fprintf(w.out, "%7.2fs "+format+"\n", append([]any{time.Duration(mono() - w.begun).Seconds()}, args...)...)
	}
}

const (
	startTime   = time.Minute     // of all servers and workers
	pauseFailed = time.Second     // before a worker begins that follows one that could not open the timers
	warmTime    = 2 * time.Second // before the first fault
	idleTime    = time.Minute     // until all has fired after the last fault
)

// run makes the run. The error says that it could not be made.
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
	if err := w.await(ctx, startTime, isOpen); err != nil {
		return err
	}
	if err := sleep(ctx, warmTime); err != nil {
		return err
	}
	defer w.probe()()
	w.say("faults begin")
	var ends []func()
	for _, m := range w.on() {
		if m.during != nil {
			ends = append(ends, m.during(w))
		}
	}
	err := w.faults(ctx)
	for _, end := range ends {
		end()
	}
	if err != nil {
		return err
	}
	w.say("faults end")
	if err := w.await(ctx, startTime, isOpen); err != nil {
		w.broke("after all faults had ended: %v", err)
		return nil
	}
	if err := w.finish(ctx); err != nil {
		w.broke("after all faults had ended: %v", err)
	}
	w.say("idle")
	return ctx.Err()
}

// sleep ends early with ctx.
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

// startWorker starts a worker with connections of its own to each server.
func (w *world) startWorker() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil
	}
	m, err := w.newMember(visitor{})
	if err != nil {
		return err
	}
	w.workers[m.number] = m
	w.wg.Go(func() { w.watch(m) })
	return nil
}

// visitor is how a worker differs that only comes for a while, and is not one of those that faults happen to.
type visitor struct {
	user string        // of the servers
	dies time.Duration // after its Open. 0: it does not
	off  time.Duration // of its clock
}

// visits has one come. It is nil if that is not possible.
func (w *world) visits(v visitor) *member {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, err := w.newMember(v)
	if err != nil {
		w.problem = append(w.problem, fmt.Sprintf("a worker can't be started: %v", err))
		return nil
	}
	return m
}

// gone ends a worker that only visits.
func (m *member) gone() {
	if m == nil {
		return
	}
	m.process.kill()
	for _, l := range m.links {
		l.close()
	}
}

// newMember starts a process. mu is held.
func (w *world) newMember(v visitor) (*member, error) {
	w.numbers++
	m := &member{number: w.numbers, path: recordsPath(w.dir, w.numbers)}
	cfg := workerConfig{Number: m.number, Seed: w.seed, habits: w.habits, Partitions: w.partitions, Lease: w.lease, Keys: w.keys,
		Records: m.path, Zero: w.zero, Offset: offsetOf(w.seed, m.number) + int64(v.off), Jumps: setsClocks(&w.options), Dies: v.dies, Quiet: v != visitor{}}
	if w.last {
		cfg.Quiet, cfg.Offset = true, int64(afterAll)
	}
	if w.alone {
		cfg.Lease, cfg.Dir = 0, filepath.Join(w.dir, "timers")
	}
	var urls []string
	for i := range w.servers {
		l, err := newLink(w.servers[(i+m.number)%len(w.servers)].cfg.Port)
		if err != nil {
			return nil, err
		}
		m.links = append(m.links, l)
		urls = append(urls, servers.URL(v.user, l.port()))
	}
	cfg.URLs = strings.Join(urls, ",")
	var err error
	m.process, err = start(childConfig{Worker: &cfg}, w.dir, fmt.Sprintf("worker-%d", m.number))
	return m, err
}

func recordsPath(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("records-%d.jsonl", number))
}

// watch waits for the end of a worker. One that ends by itself is replaced, as it would be elsewhere.
func (w *world) watch(m *member) {
	<-m.process.ended
	w.mu.Lock()
	delete(w.workers, m.number)
	over := w.over
	w.mu.Unlock()
	for _, l := range m.links {
		l.close()
	}
	if over || m.process.expected.Load() {
		return
	}
	if all, _, err := readRecords(m.path, 0); err != nil || len(all) == 0 || all[len(all)-1].Kind != isFailed {
		w.broke("worker %d ended by itself: %v: see worker-%d.txt", m.number, m.process.err, m.number)
	}
	w.say("worker %d could not open the timers", m.number)
	time.Sleep(pauseFailed)
	if err := w.startWorker(); err != nil {
		w.broke("a worker can't be started: %v", err)
	}
}

// all are the workers that were not ended.
func (w *world) all() (all []*member) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := 1; i <= w.numbers; i++ {
		if m := w.workers[i]; m != nil {
			all = append(all, m)
		}
	}
	return all
}

// end ends all processes.
func (w *world) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	for _, m := range w.all() {
		m.process.kill()
	}
	w.wg.Wait()
	for _, n := range w.servers {
		if n.process != nil {
			n.process.kill()
		}
	}
	for _, l := range w.routes {
		l.close()
	}
}
