package level

import (
	"cmp"
	"slices"

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

const (
	// fewItems is the largest number of items that are sorted by insertion.
	fewItems = 24
	// bucketBits is the number of bits of a deadline by which items are put into buckets before they are compared.
	bucketBits = 8
	// largestScratch is the number of items for which space is kept.
	largestScratch = 1024
)

// Sorter sorts runs. It has the space for that, which is reused. The zero Sorter is ready to use.
type Sorter struct{ scratch []Item }

// Sort sorts r. r.Items[:sorted] is in order already. All deadlines are in one slot of the given width.
func (st *Sorter) Sort(r *Run, sorted int, w Width) {
	r.Fetched = r.At
	items := r.Items[r.At:]
	sorted -= r.At
	behind := sorted <= 0 || sorted == len(items) || !items[sorted].Before(items[sorted-1])
	switch {
	case behind && slices.IsSortedFunc(items[max(0, sorted):], Compare):
	case len(items) <= fewItems:
		insert(items)
	default:
		st.sortByBuckets(items, max(0, int(w)-bucketBits))
	}
}

// sortByBuckets puts items into buckets by the bits of their deadlines from shift on, and then sorts each bucket.
func (st *Sorter) sortByBuckets(items []Item, shift int) {
	var ends [1 << bucketBits]uint32
	for i := range items {
		ends[items[i].bucket(shift)]++
	}
	sum := uint32(0)
	for i, n := range ends {
		ends[i], sum = sum, sum+n
	}
	if cap(st.scratch) < len(items) {
		st.scratch = make([]Item, len(items))
	}
	placed := st.scratch[:len(items)]
	for i := range items {
		b := items[i].bucket(shift)
		placed[ends[b]] = items[i]
		ends[b]++
	}
	copy(items, placed)
	begin := uint32(0)
	for _, end := range ends {
		if end-begin > fewItems {
			slices.SortFunc(items[begin:end], Compare)
		} else if end-begin > 1 {
			insert(items[begin:end])
		}
		begin = end
	}
	if cap(st.scratch) > largestScratch {
		st.scratch = nil
	}
}

// bucket returns the bucket of x among the items of its slot.
func (x *Item) bucket(shift int) uint8 { return uint8(uint64(x.Key) >> uint(shift&63)) }

// insert sorts a few items.
func insert(items []Item) {
	for i := 1; i < len(items); i++ {
		x, j := items[i], i
		for ; j > 0 && x.Before(items[j-1]); j-- {
			items[j] = items[j-1]
		}
		items[j] = x
	}
}
