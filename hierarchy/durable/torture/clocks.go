//go:build linux

package main

import (
	"math/rand/v2"
	"time"
)

// clocks has two workers come whose clocks are off: one is ahead by hours, one is behind. Nobody's
// timers are early or late for that.
func clocks() mode {
	off := time.Hour
	return mode{name: "clocks", says: "workers whose clocks are off by hours", calm: true,
		set: func(o *options, r *rand.Rand) {
			o.far()
			off = 30 * time.Minute << r.IntN(4)
		},
		during: func(w *world) (end func()) {
			ahead, behind := w.visits(visitor{off: off}), w.visits(visitor{off: -off})
			return func() { ahead.gone(); behind.gone() }
		}}
}
