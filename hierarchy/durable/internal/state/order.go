package state

import (
	"slices"
	"sort"
	"strings"
)

// order holds the numbers of records in the byte order of their keys. It is a B+ tree: its leaves have the numbers, and
// the nodes above have copies of some keys, so that finding a leaf reads no record. A leaf is not merged with its
// neighbors when it gets smaller, but it is removed when it is empty. So the tree takes 8 to 16 bytes for each timer, and
// goes away with the timers.
type order struct{ root *node }

// node is a leaf, or has children.
type node struct {
	refs  []uint32 // of a leaf, otherwise nil. Invariant: at least one, except in an empty tree
	heads []uint32 // of a leaf: the head of what follows the base in the key of each record
	base  string   // of a leaf: a text that all its keys begin with
	kids  []*node  // Invariant: nil in a leaf, otherwise not empty
	marks []string // Invariant: one less than kids. Keys in kids[k] are less than marks[k], those in kids[k+1] are not
}

// nodeWidth is the number of refs or kids at which a node is split. It is the capacity to which append lets a slice grow
// that it doubles.
const nodeWidth = 128

// insert adds record i. Its key must not be in the tree.
func (o *order) insert(r *records, i uint32) {
	if o.root == nil {
		o.root = new(node)
	}
	if mark, right := o.root.insert(r, r.at(i).key(), i); right != nil {
		o.root = &node{kids: []*node{o.root, right}, marks: []string{mark}}
	}
}

// remove takes record i out. It must be in the tree, and still have its key.
func (o *order) remove(r *records, i uint32) {
	if o.root.remove(r, r.at(i).key()) {
		o.root = nil
	}
	for o.root != nil && len(o.root.kids) == 1 {
		o.root = o.root.kids[0]
	}
}

// walk calls f for the records whose keys are not less than from, in order, until f returns false.
func (o *order) walk(r *records, from string, f func(i uint32) bool) {
	if o.root != nil {
		o.root.walk(r, from, f)
	}
}

// kid returns the place of the child that has key, if any has.
func (n *node) kid(key string) int {
	return sort.Search(len(n.marks), func(k int) bool { return key < n.marks[k] })
}

// insert adds record i below n. If that splits n, it returns the new node on its right, and the mark between the two.
func (n *node) insert(r *records, key string, i uint32) (mark string, right *node) {
	if n.kids == nil {
		return n.splitLeaf(r, n.add(r, key, i))
	}
	at := n.kid(key)
	mark, right = n.kids[at].insert(r, key, i)
	if right == nil {
		return "", nil
	}
	n.kids = slices.Insert(n.kids, at+1, right)
	n.marks = slices.Insert(n.marks, at, mark)
	return n.split(at + 1)
}

// half returns the place at which a full node is split. If the last insertion was at its end, keys may be inserted in
// their order, and then the left half would stay half full.
func half(size, inserted int) int {
	if inserted == size-1 {
		return inserted
	}
	return size / 2
}

func (n *node) splitLeaf(r *records, inserted int) (mark string, right *node) {
	if len(n.refs) < nodeWidth {
		return "", nil
	}
	right = n.cut(r, half(len(n.refs), inserted))
	return strings.Clone(r.at(right.refs[0]).key()), right // the key shares its memory with the value
}

func (n *node) split(inserted int) (mark string, right *node) {
	if len(n.kids) < nodeWidth {
		return "", nil
	}
	at := half(len(n.kids), inserted)
	right = &node{kids: slices.Clone(n.kids[at:]), marks: slices.Clone(n.marks[at:])}
	mark = n.marks[at-1]
	n.kids = slices.Delete(n.kids, at, len(n.kids))
	n.marks = slices.Delete(n.marks, at-1, len(n.marks))
	return mark, right
}

// remove takes out the record with that key. It reports whether n is empty then.
func (n *node) remove(r *records, key string) bool {
	if n.kids == nil {
		n.take(r, key)
		return len(n.refs) == 0
	}
	at := n.kid(key)
	if !n.kids[at].remove(r, key) {
		return false
	}
	n.kids = slices.Delete(n.kids, at, at+1)
	if len(n.marks) > 0 {
		mark := max(0, at-1)
		n.marks = slices.Delete(n.marks, mark, mark+1)
	}
	return len(n.kids) == 0
}

func (n *node) walk(r *records, from string, f func(i uint32) bool) bool {
	if n.kids == nil {
		for _, i := range n.refs[n.find(r, from):] {
			if !f(i) {
				return false
			}
		}
		return true
	}
	for _, kid := range n.kids[n.kid(from):] {
		if !kid.walk(r, from, f) {
			return false
		}
	}
	return true
}
