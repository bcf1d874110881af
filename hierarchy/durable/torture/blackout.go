//go:build linux

package main

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"

// blackout has all servers be down at once.
func blackout() mode {
	return mode{name: "blackout", says: "all servers down at once", faults: []often{{judge.KillAll, 8}, {judge.StopAll, 8}},
		begins: func(w *world, p plan, _ *judge.Event) (end func()) {
			if p.fault == judge.KillAll {
				return w.downMany(0, len(w.servers))
			}
			for _, n := range w.servers {
				n.stop()
			}
			return func() {
				for _, n := range w.servers {
					n.goOn()
				}
			}
		}}
}
