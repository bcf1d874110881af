//go:build linux

package main

import (
	"math/rand/v2"
	"time"
)

// leases draws the lease.
func leases() mode {
	return mode{name: "leases", says: "a lease of 0.5 to 4 s, as the seed draws it",
		set: func(o *options, r *rand.Rand) { o.lease = 500 * time.Millisecond << r.IntN(4) }}
}
