//go:build linux

package main

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"

const cutRoute = "two servers cut off from each other"

// routes cuts two servers off from each other, while the others see both.
func routes() mode {
	return mode{name: "routes", says: "cuts between two servers that others still see", faults: []often{{cutRoute, 25}},
		begins: func(w *world, p plan, e *judge.Event) (end func()) {
			return spoil(w.between(p, e), p)
		}}
}
