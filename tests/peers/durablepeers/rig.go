package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// rig is a system that runs: its servers, a worker and a caller, with files in a directory of its own.
type rig struct {
	sys     system
	dir     string
	place   place
	specs   []serverSpec
	servers []*process
	worker  *node
	caller  *node // the worker, if the system is embedded
	events  reader
	judge   *judge
	spent   time.Duration // CPU time of the processes that were killed
}

const eventsFile = "events"

// newRig starts a system.
func newRig(ctx context.Context, sys system) (_ *rig, err error) {
	r := &rig{sys: sys, judge: newJudge()}
	if r.dir, err = os.MkdirTemp("", "durablepeers-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	rec, err := openRecorder(r.path(eventsFile))
	if err != nil {
		return nil, err
	}
	_ = rec.file.Close()
	if r.events.file, err = os.Open(r.path(eventsFile)); err != nil {
		return nil, err
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if err := r.startWorker(); err != nil {
		return nil, err
	}
	r.caller = r.worker
	if !sys.Embedded {
		r.caller, err = r.node(false)
	}
	return r, err
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) prepare(ctx context.Context) (err error) {
	if r.place.Dir, err = inDir(r.path("data")); err != nil {
		return err
	}
	if r.sys.Servers != nil {
		servers, err := inDir(r.path("servers"))
		if err != nil {
			return err
		}
		if r.specs, err = r.sys.Servers(servers); err != nil {
			return err
		}
	}
	for _, s := range r.specs {
		r.place.Addrs = append(r.place.Addrs, s.Addr)
	}
	if err := r.startServers(ctx); err != nil || r.sys.Prepare == nil {
		return err
	}
	return r.sys.Prepare(ctx, r.place)
}

func (r *rig) startServers(ctx context.Context) error {
	r.servers = nil
	for _, s := range r.specs {
		p, err := s.start(ctx)
		if err != nil {
			return err
		}
		r.servers = append(r.servers, p)
	}
	return nil
}

func (r *rig) kill(p *process) {
	select {
	case <-p.ended:
	default:
		r.spent += cpuOf(p.cmd.Process.Pid)
	}
	p.kill()
}

func (r *rig) killServers() {
	for _, p := range r.servers {
		r.kill(p)
	}
}

func (r *rig) startWorker() (err error) {
	embedded := r.sys.Embedded && r.caller != nil
	if r.worker, err = r.node(true); err == nil && embedded {
		r.caller = r.worker
	}
	return err
}

// killWorker kills the worker, which is the caller, too, if the system is embedded.
func (r *rig) killWorker() { r.kill(r.worker.process) }

// processes returns all running processes of the rig.
func (r *rig) processes() []*process {
	all := append([]*process{r.worker.process}, r.servers...)
	if r.caller != r.worker {
		all = append(all, r.caller.process)
	}
	return all
}

func (r *rig) cpu() (all time.Duration) {
	for _, p := range r.processes() {
		all += cpuOf(p.cmd.Process.Pid)
	}
	return all
}

func (r *rig) memory() (all int64) {
	for _, p := range r.processes() {
		all += memoryOf(p.cmd.Process.Pid)
	}
	return all
}

// disk returns the size of all files except the file of events.
func (r *rig) disk() (all int64) {
	_ = filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == r.path(eventsFile) {
			return nil // files come and go while the tree is walked
		}
		if info, err := d.Info(); err == nil {
			all += info.Size()
		}
		return nil
	})
	return all
}

// look passes the events since the last call of look to the judge.
func (r *rig) look() error {
	events, err := r.events.next()
	r.judge.add(events)
	return err
}

// close kills all processes, and removes the files. All measurements must have ended.
func (r *rig) close() {
	if r.worker != nil {
		if r.caller != nil && r.caller != r.worker {
			r.kill(r.caller.process)
		}
		r.killWorker()
	}
	r.killServers()
	_ = r.events.file.Close()
	_ = os.RemoveAll(r.dir)
}

// node is the connection of a rig to a worker or caller.
type node struct {
	*process
	answers chan answer
}

var errEnded = errors.New("the process has ended")

// node starts a worker or a caller, and waits until it has opened the system.
func (r *rig) node(works bool) (*node, error) {
	cmd, err := (&role{Node: &nodeRole{r.sys.Name, r.place, works, r.path(eventsFile)}}).command()
	if err != nil {
		return nil, err
	}
	p, err := start(cmd, true)
	if err != nil {
		return nil, err
	}
	n := &node{p, make(chan answer, 1)}
	go n.follow()
	if _, err := n.answer(); err != nil {
		p.kill()
		return nil, err
	}
	return n, nil
}

func (n *node) follow() {
	defer close(n.answers)
	defer n.wait()
	for lines := bufio.NewScanner(n.out); lines.Scan(); {
		if a, ok := heard(lines.Text()); ok {
			n.answers <- a
		}
	}
}

func (n *node) answer() (answer, error) {
	a, ok := <-n.answers
	if !ok {
		return a, fmt.Errorf("%w: %w", errEnded, n.failure())
	}
	if a.Err != "" {
		return a, errors.New(a.Err)
	}
	return a, nil
}

// ask makes a node execute an order, and returns its answer. A node executes one order at a time.
func (n *node) ask(o order) (answer, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return answer{}, err
	}
	if _, err := n.in.Write(append(text, '\n')); err != nil {
		return answer{}, fmt.Errorf("%w: %w", errEnded, err)
	}
	return n.answer()
}

func (n *node) load(l load) (loaded, error) {
	a, err := n.ask(order{Load: &l})
	return a.Load, err
}

func (n *node) pending() (int, error) {
	a, err := n.ask(order{Pending: true})
	return a.Pending, err
}
