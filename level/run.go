package level

import (
	"cmp"

	"github.com/epicycle-go/epicycle/level/arena"
)

// Item is an entry that was read, with the deadline and the order that its node had at that time.
type Item struct {
	Key   int64
	Order uint64
	arena.Entry
}

// ItemOf returns the item of e, which names n.
func ItemOf(n *arena.Node, e arena.Entry) Item { return Item{n.Key, n.Order(), e} }

// Before reports whether x comes before y.
func (x Item) Before(y Item) bool {
	return x.Key < y.Key || x.Key == y.Key && x.Order < y.Order
}

// Compare compares items for package slices.
func Compare(x, y Item) int {
	if c := cmp.Compare(x.Key, y.Key); c != 0 {
		return c
	}
	return cmp.Compare(x.Order, y.Order)
}

// Run is a list of items in order.
type Run struct {
	Items   []Item // Invariant: Items[At:] is in order
	At      int    // Items[:At] have had their turn. Invariant: at most len(Items)
	Fetched int    // Items[:Fetched] were touched
}

// Len returns the number of items that have not had their turn.
func (r *Run) Len() int { return len(r.Items) - r.At }

// Shrink drops the items that have had their turn, once they are more than half. A run to which items are added again
// and again would otherwise only grow.
func (r *Run) Shrink() {
	if r.At > len(r.Items)/2 {
		r.Items = append(r.Items[:0], r.Items[r.At:]...)
		r.Fetched = max(0, r.Fetched-r.At)
		r.At = 0
	}
}
