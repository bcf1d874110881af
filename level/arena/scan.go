package arena

import "math"

// Each calls f for every live node, in no order.
func (a *Arena) Each(f func(i uint32, n *Node)) {
	for i := a.After(0); i != 0; i = a.After(i) {
		f(i, a.At(i))
	}
}

// After returns the first live node after index i, in the order of indexes, or 0. A loop over all indexes may make and
// free nodes between its calls: no node that stays is missed.
func (a *Arena) After(i uint32) uint32 {
	found, _, _ := a.Live(i+1, math.MaxInt)
	return found
}

// Live searches the arena from index i on for a live node, and looks at no more than most entries. found is the index
// of the node, or 0 if there is none. next is the index at which to continue, or 0 at the end. looked is the number of
// entries that Live has looked at, and of chunks that it has passed.
func (a *Arena) Live(i uint32, most int) (found, next uint32, looked int) {
	c, e := locate(i)
	for ; int(c) < len(a.nodes); c, e = c+1, 0 {
		if a.chunks[c].used == 0 { // the chunk was freed, or is spare
			if looked == most {
				return 0, c << ChunkBits, looked
			}
			looked++
			continue
		}
		for nodes := a.nodes[c]; int(e) < len(nodes); e++ {
			if looked == most {
				return 0, c<<ChunkBits | e, looked
			}
			looked++
			if nodes[e].id != 0 {
				i := c<<ChunkBits | e
				return i, i + 1, looked
			}
		}
	}
	return 0, 0, looked
}
