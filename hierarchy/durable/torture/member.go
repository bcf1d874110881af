//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
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
}

// startWorker starts a worker with connections of its own to each server.
func (w *world) startWorker() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil
	}
	m, err := w.newMember()
	if err != nil {
		return err
	}
	w.workers[m.number] = m
	w.wg.Go(func() { w.watch(m) })
	return nil
}

// newMember starts a process. mu is held.
func (w *world) newMember() (*member, error) {
	w.numbers++
	m := &member{number: w.numbers, path: recordsPath(w.dir, w.numbers)}
	cfg := workerConfig{Number: m.number, Seed: w.seed, Partitions: w.partitions, Lease: w.lease, Keys: w.keys,
		Records: m.path, Zero: w.clock.zero}
	var urls []string
	for i := range w.servers {
		l, err := newLink(w.servers[(i+m.number)%len(w.servers)].cfg.Port)
		if err != nil {
			return nil, err
		}
		m.links = append(m.links, l)
		urls = append(urls, servers.Config{Port: l.port()}.URL())
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

// tell has no effect if the worker has ended.
func (m *member) tell(line string) { _ = m.process.Tell(line) }
