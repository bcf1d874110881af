package state

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// find returns the place in a leaf of the first key that is not less than key. It compares heads, and reads only the
// keys that have the same head: each key is elsewhere in memory, and most of them in no cache.
func (n *node) find(r *records, key string) int {
	rest, shared := strings.CutPrefix(key, n.base)
	switch {
	case shared:
	case key < n.base:
		return 0
	default:
		return len(n.refs)
	}
	h := head(rest)
	from := sort.Search(len(n.heads), func(k int) bool { return n.heads[k] >= h })
	same := sort.Search(len(n.heads)-from, func(k int) bool { return n.heads[from+k] > h })
	return from + sort.Search(same, func(k int) bool { return r.at(n.refs[from+k]).key() >= key })
}

// head returns the first four bytes of a text as a number. Heads are in the order of the texts, or equal.
func head(text string) uint32 {
	var b [4]byte
	copy(b[:], text)
	return binary.BigEndian.Uint32(b[:])
}

// add adds record i to a leaf, and returns its place.
func (n *node) add(r *records, key string, i uint32) int {
	if !strings.HasPrefix(key, n.base) {
		n.rebase(r, common(n.base, key))
	}
	at := n.find(r, key)
	n.refs = slices.Insert(n.refs, at, i)
	n.heads = slices.Insert(n.heads, at, head(key[len(n.base):]))
	return at
}

// take takes the record with that key out of a leaf.
func (n *node) take(r *records, key string) {
	at := n.find(r, key)
	n.refs = slices.Delete(n.refs, at, at+1)
	n.heads = slices.Delete(n.heads, at, at+1)
}

// cut cuts a leaf in two at a place. It returns the new leaf on its right.
func (n *node) cut(r *records, at int) *node {
	right := &node{refs: slices.Clone(n.refs[at:]), heads: slices.Clone(n.heads[at:])}
	n.refs, n.heads = n.refs[:at], n.heads[:at]
	for _, half := range []*node{n, right} {
		first, last := r.at(half.refs[0]).key(), r.at(half.refs[len(half.refs)-1]).key()
		half.rebase(r, common(first, last))
	}
	return right
}

// rebase changes the base of a leaf, to one that all its keys begin with.
func (n *node) rebase(r *records, base string) {
	n.base = strings.Clone(base) // a key shares its memory with the value
	for k, i := range n.refs {
		n.heads[k] = head(r.at(i).key()[len(base):])
	}
}

// common returns the longest text that both a and b begin with.
func common(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
