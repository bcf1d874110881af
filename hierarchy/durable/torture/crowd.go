//go:build linux

package main

import "math/rand/v2"

const manyWorkers, manyPartitions = 20, 64

// crowd has many workers share many partitions. Each calls for less, so that there is as much to do in all.
func crowd() mode {
	return mode{name: "crowd", says: "20 workers and 64 partitions", byName: true, set: func(o *options, _ *rand.Rand) {
		o.keys *= 4
		o.Slower = manyWorkers / max(1, o.workers)
		o.workers, o.partitions = manyWorkers, manyPartitions
	}}
}
