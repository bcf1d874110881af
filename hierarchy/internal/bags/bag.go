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

// chain is entries in no order: full blocks, and a tail that grows to one.
type chain struct {
	full []*block
	tail []entry
}

func (c *chain) len() int { return len(c.full)*blockLen + len(c.tail) }

func (c *chain) at(i int) *entry {
	if b := i / blockLen; b < len(c.full) {
		return &c.full[b][i%blockLen]
	}
	return &c.tail[i%blockLen]
}

// bag is what a slot holds: entries, and what was prepared of those that were there before.
type bag struct {
	chain
	live  int32 // nodes that were linked here. Invariant: 0 in a slot that is not a circle's
	finer *ring // what was dealt ahead, or nil
	run   *run  // what was sorted ahead, or nil
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
