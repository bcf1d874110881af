package circles

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// item is an entry that was read, with the deadline and the order that its node had at that time.
type item struct {
	key   int64
	order uint64
	level.Entry
}

func (x item) before(y item) bool {
	return x.key < y.key || x.key == y.key && x.order < y.order
}

func compare(x, y item) int {
	if c := cmp.Compare(x.key, y.key); c != 0 {
		return c
	}
	return cmp.Compare(x.order, y.order)
}

// run is a list of items in order.
type run struct {
	items   []item // Invariant: items[at:] is in order
	at      int    // items[:at] have had their turn. Invariant: at most len(items)
	fetched int    // items[:fetched] were touched
}

func (r *run) len() int { return len(r.items) - r.at }

// merge adds the remaining items of s.
func (r *run) merge(s *run) {
	if r.at > len(r.items)/2 {
		r.items = append(r.items[:0], r.items[r.at:]...)
		r.at = 0
	}
	sorted := len(r.items)
	r.items = append(r.items, s.items[s.at:]...)
	r.fetched = r.at
	if sorted > 0 && sorted < len(r.items) && r.items[sorted].before(r.items[sorted-1]) {
		slices.SortFunc(r.items[r.at:], compare)
	}
}

// asItWas reports whether the node of x has not changed since it was read.
func (c *Circles) asItWas(x *item) bool {
	n := c.arena.At(x.Node)
	return n.Named(x.Stamp) && n.Order() == x.order
}

// headOf returns the first valid item of r, or nil. moved reports whether the node of an item before it had moved
// later, and was linked anew.
func (c *Circles) headOf(r *run) (x *item, moved bool) {
	for r.at < len(r.items) {
		if r.at >= r.fetched {
			next := r.items[r.at:min(r.at+readTogether, len(r.items))]
			r.fetched = r.at + len(next)
			c.fetch(next)
		}
		x := &r.items[r.at]
		if c.asItWas(x) {
			return x, moved
		}
		r.at++
		c.visited++
		moved = c.pass(x.Entry) || moved
	}
	return nil, moved
}

// fetch touches a few items that come next.
func (c *Circles) fetch(next []item) {
	if c.touch == nil {
		return
	}
	nodes := c.fetched[:0]
	for _, x := range next {
		if c.arena.At(x.Node).Named(x.Stamp) {
			nodes = append(nodes, x.Node)
		}
	}
	c.touch(nodes)
}

// head returns the earliest item that was sorted. ok is false if there is no item.
func (c *Circles) head() (first item, ok bool) {
	for again := true; again; { // nodes that have moved later may still come first
		first, ok = c.firstDue()
		again = false
		for left := c.running; left != 0; left &= left - 1 {
			k := bits.TrailingZeros32(left)
			x, moved := c.headOf(c.runs[k])
			again = again || moved
			if x == nil {
				c.running &^= 1 << uint(k)
				c.store.keepRun(c.runs[k])
				c.runs[k] = nil
			} else if !ok || x.before(first) {
				first, ok = *x, true
			}
		}
	}
	return first, ok
}

// firstDue returns the earliest item behind the hand or of the instant under it.
func (c *Circles) firstDue() (first item, ok bool) {
	if x := c.headOfOrdered(&c.passed); x != nil {
		first, ok = *x, true
	}
	if x := c.headOfOrdered(&c.instant); x != nil && (!ok || x.before(first)) {
		first, ok = *x, true
	}
	return first, ok
}

// headOfOrdered returns the first item of o, or nil.
func (c *Circles) headOfOrdered(o *ordered) *item {
	for o.n > 0 {
		if o.fetched == 0 {
			next := o.front(readTogether)
			o.fetched = len(next)
			c.fetch(next)
		}
		x := *o.first()
		if c.asItWas(&x) {
			return o.first()
		}
		o.removeFirst() // an entry that had got the stamp of a stale one
		c.visited++
		c.pass(x.Entry)
	}
	return nil
}

const (
	// fewItems is the largest number of items that are sorted by insertion.
	fewItems = 24
	// bucketBits is the number of bits of a deadline by which items are put into buckets before they are compared.
	bucketBits = 8
)

// sort sorts r. r.items[:sorted] is in order already. All deadlines are in one slot of the given width.
func (st *store) sort(r *run, sorted int, width time.Duration) {
	r.fetched = r.at
	items := r.items[r.at:]
	sorted -= r.at
	behind := sorted <= 0 || sorted == len(items) || !items[sorted].before(items[sorted-1])
	switch {
	case behind && slices.IsSortedFunc(items[max(0, sorted):], compare):
	case len(items) <= fewItems:
		insert(items)
	default:
		st.sortByBuckets(items, max(0, bits.Len64(uint64(width)-1)-bucketBits))
	}
}

// sortByBuckets puts items into buckets by the bits of their deadlines from shift on, and then sorts each bucket.
func (st *store) sortByBuckets(items []item, shift int) {
	var ends [1 << bucketBits]uint32
	for i := range items {
		ends[items[i].bucket(shift)]++
	}
	sum := uint32(0)
	for i, n := range ends {
		ends[i], sum = sum, sum+n
	}
	if cap(st.scratch) < len(items) {
		st.scratch = make([]item, len(items))
	}
	dealt := st.scratch[:len(items)]
	for i := range items {
		b := items[i].bucket(shift)
		dealt[ends[b]] = items[i]
		ends[b]++
	}
	copy(items, dealt)
	begin := uint32(0)
	for _, end := range ends {
		if end-begin > fewItems {
			slices.SortFunc(items[begin:end], compare)
		} else if end-begin > 1 {
			insert(items[begin:end])
		}
		begin = end
	}
	if cap(st.scratch) > largestSpare {
		st.scratch = nil
	}
}

// bucket returns the bucket of x among the items of its slot.
func (x *item) bucket(shift int) uint8 { return uint8(uint64(x.key) >> uint(shift&63)) }

// insert sorts a few items.
func insert(items []item) {
	for i := 1; i < len(items); i++ {
		x, j := items[i], i
		for ; j > 0 && x.before(items[j-1]); j-- {
			items[j] = items[j-1]
		}
		items[j] = x
	}
}
