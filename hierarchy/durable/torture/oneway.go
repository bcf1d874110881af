//go:build linux

package main

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"

const (
	oneWayWorker  = "worker cut off in one direction"
	oneWayServers = "servers cut off in one direction"
)

// oneWay has nothing come from a worker, or to it, while the other direction goes on. So do servers.
func oneWay() mode {
	return mode{name: "oneway", says: "cuts of one direction", faults: []often{{oneWayWorker, 20}, {oneWayServers, 10}},
		begins: func(w *world, p plan, e *judge.Event) (end func()) {
			p.fate = []int{mutes, deafs}[p.whom/7%2]
			if p.fault == oneWayServers {
				return spoil(w.between(p, e)[:1], p)
			}
			all := w.all()
			if len(all) == 0 {
				return nil
			}
			m := all[p.whom%len(all)]
			e.Worker = m.number
			links := m.links
			if p.whom%2 == 0 {
				links = links[p.whom%len(links):][:1]
			}
			return spoil(links, p)
		}}
}

// between returns the two links between two servers.
func (w *world) between(p plan, e *judge.Event) []*link {
	n := len(w.servers)
	from := p.whom % n
	to := (from + 1 + p.whom/n%(n-1)) % n
	e.Server = from + 1
	return []*link{w.routes[[2]int{from, to}], w.routes[[2]int{to, from}]}
}
