//go:build linux

package main

const (
	killAll = "all servers killed"
	stopAll = "all servers stopped"
)

// blackout has all servers be down at once.
func blackout() mode {
	return mode{name: "blackout", says: "all servers down at once", faults: []often{{killAll, 8}, {stopAll, 8}},
		begins: func(w *world, p plan, _ *event) (end func()) {
			if p.fault == killAll {
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
