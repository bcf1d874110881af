package hierarchy_test

import (
	"math/rand/v2"
	"time"
)

// The kinds of contexts in a random tree.
const (
	aRoot = iota // context.Background
	aWithoutCancel
	aValue
	anEmbedding
	anAfterFunc // not a context: what is below it is below its parent
	aCancel
	aCancelCause
	theirTimeout
	aTimeout // this and the kinds below are made with the contexts to be compared
	aTimeoutCause
	aDeadline
	kinds
)

// twig is the plan of one context of a tree. The tree is made twice, with contexts of
// package context and of a wheel, and the two must look the same.
type twig struct {
	kind, parent int
	d            time.Duration
	early        bool // Done is called at once
}

// canceller is the nearest twig above twig i that can end it, or 0.
func canceller(twigs []twig, i int) int {
	for i = twigs[i].parent; i > 0 && twigs[i].kind < aCancel; i = twigs[i].parent {
		if twigs[i].kind <= aWithoutCancel {
			return 0
		}
	}
	return i
}

// watched reports whether package context can cancel an ancestor of twig i.
func watched(twigs []twig, i int) bool {
	i = canceller(twigs, i)
	return i > 0 && (twigs[i].kind < aTimeout || watched(twigs, i))
}

// late reports whether twig i may end a moment after an ancestor was cancelled: package
// context has made it, or an ancestor of it, from a context of a wheel. If asked is set, it
// reports this for Err and Cause of a context of a wheel, which are late only below a child
// made from a value.
func late(twigs []twig, i int, asked bool) bool {
	kind := twigs[i].kind
	parent := canceller(twigs, i)
	switch {
	case kind <= aWithoutCancel || parent == 0:
		return false
	case kind >= aCancel && kind < aTimeout && twigs[parent].kind >= aTimeout && watched(twigs, parent):
		return !asked || twigs[i].parent != parent || late(twigs, parent, asked)
	}
	return late(twigs, parent, asked)
}

// What a deed does to a tree.
const (
	grow      = iota // makes the next twig
	cancelOne        // cancels a twig, or stops an AfterFunc
	sleep
	stopWheel
)

type deed struct {
	what, twig int
	d          time.Duration
	look       bool // compare at once what must be right at once
	wait       bool // compare everything, when all is at rest
}

// plan is a random tree, and what happens to it.
func plan(r *rand.Rand, length int) (twigs []twig, deeds []deed) {
	const unit = 100 * time.Microsecond // of sleeps; each deadline is at another time in between
	twigs = []twig{{kind: aRoot}}
	for len(deeds) < length {
		d := deed{twig: r.IntN(len(twigs)), look: r.IntN(2) == 0, wait: r.IntN(8) == 0}
		switch n := r.IntN(100); {
		case n < 60:
			kind, parent := kindOf(r), parentOf(r, len(twigs))
			for range manyOf(r, kind) {
				deeds = append(deeds, deed{what: grow, twig: len(twigs)})
				delay := time.Duration(1+r.IntN(200))*unit + time.Duration(len(twigs))*time.Microsecond
				if r.IntN(12) == 0 {
					delay = -time.Duration(r.IntN(2))
				}
				twigs = append(twigs, twig{kind, parent, delay, r.IntN(2) == 0})
			}
			continue
		case n < 75:
			d.what = cancelOne
		case n < 99:
			d.what, d.d, d.look = sleep, time.Duration(1+r.IntN(5))*unit, false
		default:
			d.what = stopWheel
		}
		deeds = append(deeds, d)
	}
	return twigs, deeds
}

// kindOf is a random kind. Contexts that detach what is below them are rare.
func kindOf(r *rand.Rand) int {
	if r.IntN(10) == 0 {
		return r.IntN(kinds)
	}
	return aValue + r.IntN(kinds-aValue)
}

// manyOf is how many twigs of that kind are made in a row. A parent of several has a hub.
func manyOf(r *rand.Rand, kind int) int {
	if kind >= aTimeout && r.IntN(8) == 0 {
		return 6
	}
	return 1
}

// parentOf is the number of a twig below n, mostly one of the last, for deep trees.
func parentOf(r *rand.Rand, n int) int {
	if r.IntN(3) == 0 {
		return r.IntN(n)
	}
	return max(0, n-1-r.IntN(4))
}
