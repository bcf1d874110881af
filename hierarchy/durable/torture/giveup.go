//go:build linux

package main

import (
	"math/rand/v2"
	"time"
)

// giveUp has callers give calls up, and do them again with another value. What they gave up is committed before
// that, or never.
func giveUp() mode {
	return mode{name: "giveup", says: "callers that give calls up, and do them again with another value", calm: true,
		set: func(o *options, _ *rand.Rand) { o.GiveUp, o.Slower = true, 4 }}
}

// givingUp are further callers: several calls share a message only if there are many.
const (
	givingUp     = 20
	triesGivenUp = 20 // of one call
)

// shortPatience returns the limit of a call that is given up if it takes longer than most do.
func shortPatience(r *rand.Rand) time.Duration {
	return time.Duration(1+r.IntN(200)) * time.Millisecond
}
