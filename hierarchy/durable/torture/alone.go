//go:build linux

package main

import (
	"math/rand/v2"
	"time"
)

// alone is one worker with a directory of its own, to which nothing happens: a day's load in less time. The
// longer the run is, the less there is to do at once.
func alone() mode {
	return mode{name: "alone", says: "load on one worker with a directory, and no faults; nothing is late by a second", byName: true,
		set: func(o *options, _ *rand.Rand) {
			o.far()
			o.alone, o.Silence = true, 2*time.Second
			o.servers, o.workers = 0, 1
			o.Slower = 1 + int(o.length/(10*time.Minute))
		}}
}
