package keys

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
)

// Entry is the value of a timer: the user's key and value, and a link of the index. The fields that a search reads come
// first, so that they are mostly in one cache line.
type Entry[K comparable, V any] struct {
	hash  uint32
	next  uint32 // the next entry in its bucket's chain
	Key   K
	Value V
}

const (
	segmentBits = 8
	segmentLen  = 1 << segmentBits
	firstLen    = 16 // the first segment starts small and doubles, for few keys

	// bucketsPerKey is the least number of buckets for each key. With two instead of one, a search reads 1.25 entries
	// on average instead of 1.5, each of which is a cache miss.
	bucketsPerKey = 2
)

// index finds the timers of one shard by key. It is a hash table by linear hashing, chained through the entries
// themselves, which takes eight bytes a key. A few buckets are split whenever keys are added, and a few are joined
// whenever keys are removed. So no call waits for a table to be copied, and memory is freed as keys go.
//
// A Go map would hold each key a second time, and keep the size of its peak.
//
// Invariant: each key is in the chain of bucket bucketFor(hash).
type index[K comparable, V any] struct {
	segments [][]uint32 // heads of chains
	buckets  uint32     // number of buckets in use; 0 before the first key
	keys     uint32
	_        [32]byte // so that each shard's index has a cache line of its own
}

// bucketFor returns the number of the bucket of a hash: its low bits, as many as are needed to number all buckets,
// or one bit fewer if there is no bucket with that number yet.
func (x *index[K, V]) bucketFor(hash uint32) uint32 {
	mask := roundUp(x.buckets) - 1
	if b := hash & mask; b < x.buckets {
		return b
	}
	return hash & (mask >> 1)
}

// roundUp returns the least power of two that is at least n, for n >= 1.
func roundUp(n uint32) uint32 { return 1 << bits.Len32(n-1) }

func (x *index[K, V]) head(bucket uint32) *uint32 {
	return &x.segments[bucket>>segmentBits][bucket&(segmentLen-1)]
}

// find returns the timer of key, or 0 if key is not in the index.
func (x *index[K, V]) find(t *timers.Timers[Entry[K, V]], hash uint32, key K) uint32 {
	if x.buckets == 0 {
		return 0
	}
	for i := *x.head(x.bucketFor(hash)); i != 0; {
		e := t.Value(i)
		if e.hash == hash && e.Key == key {
			return i
		}
		i = e.next
	}
	return 0
}

// insert adds timer i, whose key must not be in the index.
func (x *index[K, V]) insert(t *timers.Timers[Entry[K, V]], i uint32) {
	for x.keys*bucketsPerKey >= x.buckets {
		x.split(t)
	}
	x.keys++
	x.link(t, i)
}

func (x *index[K, V]) link(t *timers.Timers[Entry[K, V]], i uint32) {
	e := t.Value(i)
	h := x.head(x.bucketFor(e.hash))
	e.next, *h = *h, i
}

// remove removes timer i, which must be in the index.
func (x *index[K, V]) remove(t *timers.Timers[Entry[K, V]], i uint32) {
	e := t.Value(i)
	link := x.head(x.bucketFor(e.hash))
	for *link != i {
		link = &t.Value(*link).next
	}
	*link = e.next
	x.keys--
	// Buckets are joined faster than keys are removed, so that one segment is left at the end.
	for n := 0; n < 5*bucketsPerKey && x.keys*bucketsPerKey < x.buckets/4 && x.buckets > segmentLen; n++ {
		x.join(t)
	}
}

// split adds one bucket and moves its keys there from the bucket that held them so far.
func (x *index[K, V]) split(t *timers.Timers[Entry[K, V]]) {
	switch {
	case x.buckets == 0:
		x.segments = append(x.segments, make([]uint32, firstLen))
	case x.buckets%segmentLen == 0:
		x.segments = append(x.segments, make([]uint32, segmentLen))
	case x.buckets < segmentLen && int(x.buckets) == len(x.segments[0]):
		x.segments[0] = append(make([]uint32, 0, 2*x.buckets), x.segments[0]...)[:2*x.buckets]
	}
	x.buckets++
	if x.buckets == 1 {
		return
	}
	added := x.buckets - 1
	x.relinkAll(t, added&(roundUp(x.buckets)>>1-1))
}

// join removes the last bucket and moves its keys to the bucket that takes over.
func (x *index[K, V]) join(t *timers.Timers[Entry[K, V]]) {
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

// shrinkDirectory frees the list of segments when it is far longer than needed.
func (x *index[K, V]) shrinkDirectory() {
	if cap(x.segments) > 64 && len(x.segments) < cap(x.segments)/4 {
		x.segments = append(make([][]uint32, 0, 2*len(x.segments)), x.segments...)
	}
}

func (x *index[K, V]) relinkAll(t *timers.Timers[Entry[K, V]], bucket uint32) {
	h := x.head(bucket)
	chain := *h
	*h = 0
	x.relinkChain(t, chain)
}

func (x *index[K, V]) relinkChain(t *timers.Timers[Entry[K, V]], chain uint32) {
	for chain != 0 {
		i := chain
		chain = t.Value(i).next
		x.link(t, i)
	}
}
