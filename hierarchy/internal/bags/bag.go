package bags

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// entry names a node. It counts as long as the node has that stamp, and is stale from then on.
type entry struct{ node, stamp uint32 }

// tailSizes are the capacities of tails. The largest is that of a block.
var tailSizes = [...]int{4, 32, blockLen}

const blockLen = 256

type block [blockLen]entry

// chain is entries in the order in which they were appended: full blocks, and a tail that grows to one.
type chain struct {
	full  []*block
	tail  []entry
	taken int // from the first block, or the tail if there is none
}

func (c *chain) len() int { return len(c.full)*blockLen + len(c.tail) - c.taken }

func (c *chain) at(i int) *entry {
	i += c.taken
	if b := i / blockLen; b < len(c.full) {
		return &c.full[b][i%blockLen]
	}
	return &c.tail[i-len(c.full)*blockLen]
}

// front is the first n entries, or fewer, but one at least if there is one.
func (c *chain) front(n int) []entry {
	first := c.tail
	if len(c.full) > 0 {
		first = c.full[0][:]
	}
	return first[c.taken:min(c.taken+n, len(first))]
}

// bag is what a slot holds: entries, and what was prepared of those that were there before.
type bag struct {
	chain
	least, most int64 // Invariant: the deadline of no entry of the chain that counts is less, nor was any more when it was added
	live        int32 // nodes that were linked here. Invariant: 0 in a slot that is not a circle's
	finer       *ring // what was dealt ahead, or nil
	run         *run  // what was sorted ahead, or nil
}

// holds reports whether anything is in b.
func (b *bag) holds() bool { return b.chain.len() > 0 || b.finer != nil || b.run != nil }

// ring is the slots of a circle, or those over which a slot of the next coarser one was dealt ahead.
type ring struct {
	occupied uint64 // Invariant: bit s is set iff slot s holds anything
	crowds   uint64 // Invariant: bit s is set if slot s holds a crowd; never on circle 0
	circle   int
	number   int // in the list of all rings
	slots    [level.Slots]bag
}

func (r *ring) first() int { return bits.TrailingZeros64(r.occupied) }
