package level

// Seek looks through the arena from index i on, at no more than most entries, for a
// node that belongs in that slot of that circle, on that side. It returns its index,
// or 0, where to go on, or 0 at the end, and how many entries it has looked at.
//
// Memory is read in order, which for many nodes of one slot that were not pushed in
// that order is several times faster than to go along its list.
func (a *Arena) Seek(i uint32, circle, slot, side, most int) (found, next uint32, looked int) {
	c, e := place(i)
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
