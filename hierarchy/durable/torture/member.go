//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// member is a worker.
type member struct {
	number  int
	process *child.Process
	links   []*link         // to each server
	path    string          // of its records
	read    int64           // how much of them await has read
	kinds   map[string]bool // of what it has read
	isSet   atomic.Bool     // whether its clock is set at the moment
	calls   bool            // whether it is a caller, and owns nothing
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

// visitor describes how a worker differs that only runs for a while, and to which no faults happen.
type visitor struct {
	user string        // of the servers
	dies time.Duration // how long after its Open it dies. 0: it does not
	off  time.Duration // of its clock
}

// visits starts a visitor. It returns nil if that is not possible.
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
	m.process.End()
	for _, l := range m.links {
		l.close()
	}
}

// newMember starts a process. mu is held.
func (w *world) newMember(v visitor) (*member, error) {
	w.numbers++
	m := &member{number: w.numbers, path: recordsPath(w.dir, w.numbers), calls: w.ownsNothing(v)}
	cfg := workerConfig{Number: m.number, Seed: w.seed, habits: w.habits, Partitions: w.partitions, Lease: w.lease, Keys: w.keys,
		Records: m.path, Zero: w.zero, Offset: offsetOf(w.seed, m.number) + int64(v.off), Jumps: setsClocks(&w.options), Dies: v.dies, Quiet: v != visitor{}, Calls: m.calls}
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
	m.process, err = child.Start(child.Spec{Variable: childEnv, Config: childConfig{cfg}, Log: w.log(fmt.Sprintf("worker-%d", m.number))})
	return m, err
}

func recordsPath(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("records-%d.jsonl", number))
}

// watch waits for the end of a worker. A worker that ends by itself is replaced, as it would be in production.
func (w *world) watch(m *member) {
	<-m.process.Ended()
	w.mu.Lock()
	delete(w.workers, m.number)
	over := w.over
	w.mu.Unlock()
	for _, l := range m.links {
		l.close()
	}
	if over || m.process.Expected() {
		return
	}
	if all, _, err := judge.ReadRecords(m.path, 0); err != nil || len(all) == 0 || all[len(all)-1].Kind != judge.IsFailed {
		w.broke("worker %d ended by itself: %v: see worker-%d.txt", m.number, m.process.Err(), m.number)
	}
	w.say("worker %d could not open the timers", m.number)
	time.Sleep(pauseFailed)
	if err := w.startWorker(); err != nil {
		w.broke("a worker can't be started: %v", err)
	}
}

// replace starts a worker in place of one that has ended.
func (w *world) replace() {
	if err := w.startWorker(); err != nil {
		w.broke("a worker can't be started: %v", err)
	}
}

// all returns the workers that have not ended.
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

// ends waits for the end of a worker that was told to end. If it does not end, since it is stopped, it is killed.
func (m *member) ends() {
	select {
	case <-m.process.Ended():
	case <-time.After(15 * time.Second):
		m.process.End()
	}
}

// setClock sets a worker's wall clock forward or back. It has no effect if the worker has ended.
func (m *member) setClock(by time.Duration) { m.tell(fmt.Sprint("clock ", by)) }

func (m *member) tell(line string) { _ = m.process.Tell(line) }
