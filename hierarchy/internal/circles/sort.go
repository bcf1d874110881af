package circles

import (
	"math/bits"
	"slices"
	"time"
)

const (
	// fewItems are sorted by comparing.
	fewItems = 24
	// bucketBits is how many bits of a deadline tell items apart before they are compared.
	bucketBits = 8
)

// sort puts r in order, of which the first sorted items are. All deadlines are in one slot of that width.
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

// sortByBuckets sorts items by the bits of their deadlines from shift on, and then each few of them.
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

// bucket is where x goes among those of its slot.
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
