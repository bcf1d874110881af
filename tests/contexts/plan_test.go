package contexts

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
	aStdTimeout
	aTimeout // this kind and the ones below are made with the contexts to be compared
	aTimeoutCause
	aDeadline
	kindCount // the number of kinds
)

// treeNode is the plan of one context of a tree. The tree is made twice, with contexts of
// package context and of a wheel, and the two must look the same.
type treeNode struct {
	kind, parent int
	d            time.Duration
	early        bool // Done is called at once
}

// cancellingNode returns the nearest node above node i that can end it, or 0.
func cancellingNode(nodes []treeNode, i int) int {
	for i = nodes[i].parent; i > 0 && nodes[i].kind < aCancel; i = nodes[i].parent {
		if nodes[i].kind <= aWithoutCancel {
			return 0
		}
	}
	return i
}

// needsWatch reports whether package context can cancel an ancestor of node i.
func needsWatch(nodes []treeNode, i int) bool {
	i = cancellingNode(nodes, i)
	return i > 0 && (nodes[i].kind < aTimeout || needsWatch(nodes, i))
}

// late reports whether node i may end a moment after an ancestor was cancelled: package
// context has made it, or an ancestor of it, from a context of a wheel. If errOnly is set,
// it reports this for Err and Cause of a context of a wheel, which are late only below a
// child made from a value.
func late(nodes []treeNode, i int, errOnly bool) bool {
	kind := nodes[i].kind
	parent := cancellingNode(nodes, i)
	switch {
	case kind <= aWithoutCancel || parent == 0:
		return false
	case kind >= aCancel && kind < aTimeout && nodes[parent].kind >= aTimeout && needsWatch(nodes, parent):
		return !errOnly || nodes[i].parent != parent || late(nodes, parent, errOnly)
	}
	return late(nodes, parent, errOnly)
}

// What a step does to a tree.
const (
	addNode    = iota // makes the context of the next node
	cancelNode        // cancels a context, or stops an AfterFunc
	sleep
	stopWheel
)

type treeStep struct {
	what, node int
	d          time.Duration
	compareNow bool // what must be right at once
	compareAll bool // when all goroutines are blocked
}

// plan returns a random tree, and the steps that make and end its contexts.
func plan(r *rand.Rand, length int) (nodes []treeNode, steps []treeStep) {
	const unit = 100 * time.Microsecond // of sleeps; each deadline is at another time in between
	nodes = []treeNode{{kind: aRoot}}
	for len(steps) < length {
		s := treeStep{node: r.IntN(len(nodes)), compareNow: r.IntN(2) == 0, compareAll: r.IntN(8) == 0}
		switch n := r.IntN(100); {
		case n < 60:
			kind, parent := randomKind(r), randomParent(r, len(nodes))
			for range randomCount(r, kind) {
				steps = append(steps, treeStep{what: addNode, node: len(nodes)})
				delay := time.Duration(1+r.IntN(200))*unit + time.Duration(len(nodes))*time.Microsecond
				if r.IntN(12) == 0 {
					delay = -time.Duration(r.IntN(2))
				}
				nodes = append(nodes, treeNode{kind, parent, delay, r.IntN(2) == 0})
			}
			continue
		case n < 75:
			s.what = cancelNode
		case n < 99:
			s.what, s.d, s.compareNow = sleep, time.Duration(1+r.IntN(5))*unit, false
		default:
			s.what = stopWheel
		}
		steps = append(steps, s)
	}
	return nodes, steps
}

// randomKind returns a random kind. Contexts that detach what is below them are rare.
func randomKind(r *rand.Rand) int {
	if r.IntN(10) == 0 {
		return r.IntN(kindCount)
	}
	return aValue + r.IntN(kindCount-aValue)
}

// randomCount returns how many nodes of that kind are made in a row. A parent of several
// has a notifier.
func randomCount(r *rand.Rand, kind int) int {
	if kind >= aTimeout && r.IntN(8) == 0 {
		return 6
	}
	return 1
}

// randomParent returns the number of a node below n, mostly one of the last, for deep trees.
func randomParent(r *rand.Rand, n int) int {
	if r.IntN(3) == 0 {
		return r.IntN(n)
	}
	return max(0, n-1-r.IntN(4))
}
