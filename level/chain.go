package level

// Entry names a node. It counts as long as the node has that stamp, and is stale from then on.
type Entry struct{ Node, Stamp uint32 }

// tailSizes are the capacities of tails. The largest is that of a block.
var tailSizes = [...]int{4, 32, BlockLen}

// BlockLen is how many entries a block has.
const BlockLen = 256

type block [BlockLen]Entry

// Chain is entries in the order in which they were added: full blocks, and a tail that grows to one. The zero
// Chain is empty and ready to use.
type Chain struct {
	full  []*block
	tail  []Entry
	taken int // from the first block, or the tail if there is none
}

// Len is the number of entries.
func (c *Chain) Len() int { return len(c.full)*BlockLen + len(c.tail) - c.taken }

// Blocks is the number of full blocks.
func (c *Chain) Blocks() int { return len(c.full) }

// Full reports whether there is no room for another entry, so that Push must not be called.
func (c *Chain) Full() bool { return len(c.tail) == cap(c.tail) }

// Push is Memory.Add for a chain that is not Full.
func (c *Chain) Push(e Entry) { c.tail = append(c.tail, e) }

// Undo takes e out again if it was added last and is not alone in its block, and reports whether it has. The
// only entry of all can be taken out.
func (c *Chain) Undo(e Entry) bool {
	last := len(c.tail) - 1
	switch {
	case last < 0 || c.tail[last] != e:
		return false
	case last > c.taken:
		c.tail = c.tail[:last]
	case len(c.full) == 0:
		c.tail, c.taken = c.tail[:0], 0
	default:
		return false
	}
	return true
}

// At is entry i, counted from the front.
func (c *Chain) At(i int) *Entry {
	i += c.taken
	if b := i / BlockLen; b < len(c.full) {
		return &c.full[b][i%BlockLen]
	}
	return &c.tail[i-len(c.full)*BlockLen]
}

// Front is the first n entries, or fewer, but one at least if there is one.
func (c *Chain) Front(n int) []Entry {
	first := c.tail
	if len(c.full) > 0 {
		first = c.full[0][:]
	}
	return first[c.taken:min(c.taken+n, len(first))]
}

// Back is the last n entries, or fewer, but one at least if there is one.
func (c *Chain) Back(n int) []Entry {
	from := len(c.tail) - n
	if len(c.full) == 0 {
		from = max(from, c.taken)
	}
	return c.tail[max(from, 0):]
}
