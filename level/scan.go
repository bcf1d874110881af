package level

import "math"

// Seek searches the arena from index i on for a node that belongs in that slot, circle and
// side, and looks at no more than most entries. It returns the node's index, or 0 if there
// is none, where to go on, or 0 at the end, and how many entries it has looked at.
//
// It reads memory in order. For a slot with many nodes that were not pushed in that order,
// this is several times faster than to follow the list.
func (a *Arena) Seek(i uint32, circle, slot, side, most int) (found, next uint32, looked int) {
	c, e := locate(i)
	belongs := uint64(slot) | uint64(side)<<Bits
	for ; int(c) < len(a.nodes); c, e = c+1, 0 {
		nodes := a.nodes[c]
		for ; int(e) < len(nodes); e++ {
			if looked == most {
				return 0, c<<ChunkBits | e, looked
			}
			looked++
			n := &nodes[e]
			if n.order&(1<<(Bits+1)-1) == belongs && n.Circle() == circle && n.stamp != 0 {
				i := c<<ChunkBits | e
				return i, i + 1, looked
			}
		}
	}
	return 0, 0, looked
}

// Each calls f for every live node, in no order.
func (a *Arena) Each(f func(i uint32, n *Node)) {
	for c := range a.nodes {
		for e := range a.nodes[c] {
			if n := &a.nodes[c][e]; n.stamp != 0 {
				f(uint32(c)<<ChunkBits|uint32(e), n)
			}
		}
	}
}

// After is the first live node after index i, in the order of indexes, or 0. Nodes may be made
// and freed between calls that go from one index to the next: none that stays is missed.
func (a *Arena) After(i uint32) uint32 {
	found, _, _ := a.Live(i+1, math.MaxInt)
	return found
}

// Live searches the arena from index i on for a live node, and looks at no more than most
// entries. It returns as Seek does.
func (a *Arena) Live(i uint32, most int) (found, next uint32, looked int) {
	c, e := locate(i)
	for ; int(c) < len(a.nodes); c, e = c+1, 0 {
		for nodes := a.nodes[c]; int(e) < len(nodes); e++ {
			if looked == most {
				return 0, c<<ChunkBits | e, looked
			}
			looked++
			if nodes[e].stamp != 0 {
				i := c<<ChunkBits | e
				return i, i + 1, looked
			}
		}
	}
	return 0, 0, looked
}

// Gathered tells whether index i is a live node that is Gathered, with that key, and with
// an order whose low bits are those. Any index may be passed.
func (a *Arena) Gathered(i uint32, key int64, order uint32) bool {
	c, e := locate(i)
	if int(c) >= len(a.nodes) || int(e) >= len(a.nodes[c]) {
		return false
	}
	n := &a.nodes[c][e]
	return n.Circle() == Gathered && n.Key == key && uint32(n.order>>metaBits) == order
}
