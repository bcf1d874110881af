//go:build linux

package main

import "math/rand/v2"

// jumps has clocks be set by up to an hour. Meanwhile such a worker takes nothing over.
func jumps() mode {
	return mode{name: "jumps", says: "workers' clocks set by up to an hour", byName: true,
		set: func(o *options, _ *rand.Rand) { o.farJumps = true }}
}
