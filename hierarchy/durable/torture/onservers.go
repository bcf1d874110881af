//go:build linux

package main

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"

// onServers is for the faults of servers and of the network.
func (w *world) onServers(p plan, e *judge.Event) (end func()) {
	at := p.whom % len(w.servers)
	n := w.servers[at]
	switch p.fault {
	case judge.KillServer:
		e.Server = at + 1
		w.down(at)
		return func() { w.up(at) }
	case judge.StopServer:
		e.Server = at + 1
		n.stop()
		return n.goOn
	case cutServer:
		e.Server = at + 1
		return spoil(w.routesOf(at), p)
	case judge.KillMajority:
		return w.downMany(at, len(w.servers)/2+1)
	}
	return spoil(w.everyLink(), p)
}

// A process that has ended meanwhile hears no signal.
func (n *node) stop() { n.mu.Lock(); _ = n.process.Stop(); n.mu.Unlock() }
func (n *node) goOn() { n.mu.Lock(); _ = n.process.GoOn(); n.mu.Unlock() }

// down kills a server, if it is not down.
func (w *world) down(at int) {
	n := w.servers[at]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.faults++; n.faults == 1 {
		n.process.Kill()
	}
}

// up starts it again, when nothing keeps it down.
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

// everyLink returns all links that there are now.
func (w *world) everyLink() (all []*link) {
	for _, l := range w.routes {
		all = append(all, l)
	}
	for _, m := range w.all() {
		all = append(all, m.links...)
	}
	return all
}
