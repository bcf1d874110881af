//go:build linux

package main

import "math/rand/v2"

const moreCallers = 2

// ownless has processes beside the workers that have no handler: they call the workers, and own nothing. What happens
// to workers happens to them, too.
func ownless() mode {
	return mode{name: "callers", says: "two more workers, and two of all that own nothing", set: func(o *options, _ *rand.Rand) {
		o.callers, o.workers = moreCallers, o.workers+moreCallers
	}}
}

// ownsNothing reports whether the next worker is to own nothing. mu is held.
func (w *world) ownsNothing(v visitor) bool {
	living := 0
	for _, m := range w.workers {
		if m.calls {
			living++
		}
	}
	return v == visitor{} && !w.alone && living < w.callers
}
