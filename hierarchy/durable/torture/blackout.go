//go:build linux

package main

import "syscall"

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
			w.signalAll(syscall.SIGSTOP)
			return func() { w.signalAll(syscall.SIGCONT) }
		}}
}

func (w *world) signalAll(s syscall.Signal) {
	for _, n := range w.servers {
		n.signal(s)
	}
}
