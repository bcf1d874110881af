//go:build linux

package main

import (
	"fmt"
	"path/filepath"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// startServers starts the servers, with a link for each route between two.
func (w *world) startServers() error {
	cfgs, err := servers.Cluster(w.options.servers, func(i int) string { return filepath.Join(w.dir, fmt.Sprintf("server-%d", i+1)) })
	if err != nil {
		return err
	}
	w.routes = make(map[[2]int]*link)
	for i, cfg := range cfgs {
		cfg.Hidden = true
		if cfg.Others, err = w.linkServer(cfgs, i); err != nil {
			return err
		}
		if len(cfgs) == 1 {
			cfg.Cluster = 0
		}
		w.servers = append(w.servers, &node{cfg: cfg})
	}
	for i := range w.servers {
		if err := w.startServer(i); err != nil {
			return err
		}
	}
	return w.awaitServers()
}

// linkServer makes the links from a server to the others, and returns their ports.
func (w *world) linkServer(cfgs []servers.Config, from int) (ports []int, err error) {
	for to := range cfgs {
		if to == from {
			continue
		}
		l, err := newLink(cfgs[to].Cluster)
		if err != nil {
			return nil, err
		}
		w.routes[[2]int{from, to}] = l
		ports = append(ports, l.port())
	}
	return ports, nil
}

func (w *world) startServer(i int) (err error) {
	n := w.servers[i]
	n.process, err = servers.Launch(n.cfg, w.log(n.cfg.Name))
	return err
}

// onServers begins a fault of servers, or of the network.
func (w *world) onServers(p plan, e *judge.Event) (end func()) {
	at := p.whom % len(w.servers)
	n := w.servers[at]
	switch p.fault {
	case killServer:
		e.Server = at + 1
		w.down(at)
		return func() { w.up(at) }
	case stopServer:
		e.Server = at + 1
		n.stop()
		return n.goOn
	case cutServer:
		e.Server = at + 1
		return spoil(w.routesOf(at), p)
	case cutRoute:
		e.Server = at + 1
		return spoil(w.between(at, (at+1+p.whom/len(w.servers)%(len(w.servers)-1))%len(w.servers)), p)
	case killMajority:
		return w.downMany(at, len(w.servers)/2+1)
	}
	return w.downMany(0, len(w.servers))
}

// Signals to a process that has ended meanwhile have no effect.
func (n *node) stop() { n.mu.Lock(); _ = n.process.Stop(); n.mu.Unlock() }
func (n *node) goOn() { n.mu.Lock(); _ = n.process.GoOn(); n.mu.Unlock() }

// down kills a server, if it is running.
func (w *world) down(at int) {
	n := w.servers[at]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.faults++; n.faults == 1 {
		n.process.Kill()
	}
}

// up starts a server again, once no fault keeps it down.
func (w *world) up(at int) {
	n := w.servers[at]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.faults--; n.faults > 0 {
		return
	}
	if err := w.startServer(at); err != nil {
		w.broke("a server can't be started: %v", err)
	}
}

// downMany kills several servers.
func (w *world) downMany(first, n int) (end func()) {
	for i := range n {
		w.down((first + i) % len(w.servers))
	}
	return func() {
		for i := range n {
			w.up((first + i) % len(w.servers))
		}
	}
}

// routesOf returns the links between a server and all others.
func (w *world) routesOf(at int) (all []*link) {
	for between, l := range w.routes {
		if between[0] == at || between[1] == at {
			all = append(all, l)
		}
	}
	return all
}

// between returns the links between two servers.
func (w *world) between(a, b int) []*link {
	return []*link{w.routes[[2]int{a, b}], w.routes[[2]int{b, a}]}
}
