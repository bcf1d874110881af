//go:build linux

package main

import "math/rand/v2"

// jumps has clocks be set by up to an hour. A worker that takes a partition over meanwhile goes by such a
// clock, and timers are early or late by as much.
func jumps() mode {
	return mode{name: "jumps", says: "workers' clocks set by up to an hour", asked: true,
		set: func(o *options, _ *rand.Rand) { o.farJumps = true }}
}
