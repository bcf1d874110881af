//go:build linux

package main

import "time"

const (
	diesAfter  = 500 * time.Millisecond // its Open
	againAfter = 1500 * time.Millisecond
)

// crashLoop has a worker die soon after it has joined, again and again, as one does that is restarted and
// can't run. It takes nothing from those that live.
func crashLoop() mode {
	return mode{name: "crashloop", says: "a worker that dies soon after each start", calm: true, during: func(w *world) (end func()) {
		return repeat(func(rest func(time.Duration) bool) bool {
			m := w.visits(visitor{dies: diesAfter})
			if m == nil {
				return false
			}
			defer m.gone()
			select {
			case <-m.process.Ended():
				return true
			case <-time.After(startTime):
			}
			return true
		}, againAfter)
	}}
}
