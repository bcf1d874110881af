package hierarchy

import "github.com/epicycle-go/epicycle/hierarchy/internal/timers"

// entry is what a timer of a Keyed carries: its key and value, and its link in
// the index.
//
// What a search reads comes first, so that it is mostly in one cache line.
type entry[K comparable, V any] struct {
	hash uint32
	next uint32 // in its bucket's chain
	key  K
	val  V
}

const (
	segmentBits = 8
	segmentLen  = 1 << segmentBits

	// bucketsPerKey is how many buckets a key has at least: with two instead of one
	// a search meets 1.25 entries on average instead of 1.5, each a cache miss.
	bucketsPerKey = 2
)

// index finds the timers of one shard by key: a hash table by linear hashing,
// chained through the entries themselves, eight bytes a key. It splits a few
// buckets when a key too many comes and joins a few when enough have gone, so no
// call ever waits for a table to be copied, and memory goes back as keys go.
//
// A Go map would need the key a second time, and keeps the size of its peak.
//
// Invariant: there are buckets buckets; a key is in bucket bucketFor(hash).
type index[K comparable, V any] struct {
	segments [][]uint32 // heads of chains
	buckets  uint32     // 0 before the first key, then at least 1
	keys     uint32
	_        [32]byte // a cache line for each shard's
}

// bucketFor is the bucket of a hash: its low bits, as many as name all buckets,
// or one fewer if that bucket is not there yet.
func (x *index[K, V]) bucketFor(hash uint32) uint32 {
	mask := roundUp(x.buckets) - 1
	if b := hash & mask; b < x.buckets {
		return b
	}
	return hash & (mask >> 1)
}

// roundUp is the least power of two that is at least n, for n >= 1.
func roundUp(n uint32) uint32 { return uint32(powerOfTwo(int(n))) }

func (x *index[K, V]) head(bucket uint32) *uint32 {
	return &x.segments[bucket>>segmentBits][bucket&(segmentLen-1)]
}

// find is the timer of that key, or 0.
func (x *index[K, V]) find(t *timers.Timers[entry[K, V]], hash uint32, key K) uint32 {
	if x.buckets == 0 {
		return 0
	}
	for i := *x.head(x.bucketFor(hash)); i != 0; {
		e := t.Value(i)
		if e.hash == hash && e.key == key {
			return i
		}
		i = e.next
	}
	return 0
}

// insert adds timer i, whose key is not there yet.
func (x *index[K, V]) insert(t *timers.Timers[entry[K, V]], i uint32) {
	for x.keys*bucketsPerKey >= x.buckets {
		x.split(t)
	}
	x.keys++
	x.link(t, i)
}

func (x *index[K, V]) link(t *timers.Timers[entry[K, V]], i uint32) {
	e := t.Value(i)
	h := x.head(x.bucketFor(e.hash))
	e.next, *h = *h, i
}

// remove takes timer i out, which must be there.
func (x *index[K, V]) remove(t *timers.Timers[entry[K, V]], i uint32) {
	e := t.Value(i)
	link := x.head(x.bucketFor(e.hash))
	for *link != i {
		link = &t.Value(*link).next
	}
	*link = e.next
	x.keys--
	// Below a quarter of what they need, faster than keys go, so that none left is
	// one segment left.
	for n := 0; n < 5*bucketsPerKey && x.keys*bucketsPerKey < x.buckets/4 && x.buckets > segmentLen; n++ {
		x.join(t)
	}
}

// split adds one bucket and moves into it what belongs there from the one that
// served its keys so far.
func (x *index[K, V]) split(t *timers.Timers[entry[K, V]]) {
	if x.buckets%segmentLen == 0 {
		x.segments = append(x.segments, make([]uint32, segmentLen))
	}
	x.buckets++
	if x.buckets == 1 {
		return
	}
	added := x.buckets - 1
	x.relinkAll(t, added&(roundUp(x.buckets)>>1-1))
}

// join removes the last bucket and moves its keys to the one that takes over.
func (x *index[K, V]) join(t *timers.Timers[entry[K, V]]) {
	x.buckets--
	last := *x.head(x.buckets)
	*x.head(x.buckets) = 0
	x.relinkChain(t, last)
	if x.buckets%segmentLen == 0 {
		x.segments[x.buckets>>segmentBits] = nil
		x.segments = x.segments[:x.buckets>>segmentBits]
		x.shrinkDirectory()
	}
}

// shrinkDirectory gives back the list of segments when it has become far too long.
func (x *index[K, V]) shrinkDirectory() {
	if cap(x.segments) > 64 && len(x.segments) < cap(x.segments)/4 {
		x.segments = append(make([][]uint32, 0, 2*len(x.segments)), x.segments...)
	}
}

func (x *index[K, V]) relinkAll(t *timers.Timers[entry[K, V]], bucket uint32) {
	h := x.head(bucket)
	chain := *h
	*h = 0
	x.relinkChain(t, chain)
}

func (x *index[K, V]) relinkChain(t *timers.Timers[entry[K, V]], chain uint32) {
	for chain != 0 {
		i := chain
		chain = t.Value(i).next
		x.link(t, i)
	}
}
