package arena

import "slices"

// Entry names a node. It is valid as long as the node has the same stamp, and stale after that.
type Entry struct{ Node, Stamp uint32 }

// tailSizes are the capacities of tails. The largest is the size of a block.
var tailSizes = [...]int{4, 32, BlockLen}

// BlockLen is the number of entries of a block.
const BlockLen = 256

type block [BlockLen]Entry

// Chain is a list of entries in the order in which they were added: full blocks, and a tail that grows to a block. The
// zero Chain is empty and ready to use.
type Chain struct {
	full  []*block
	tail  []Entry // Invariant: empty only if the chain is empty; its capacity is BlockLen if full is not empty
	taken int     // number of entries that were taken from the first block or, if full is empty, from the tail
}

// Len returns the number of entries.
func (c *Chain) Len() int { return len(c.full)*BlockLen + len(c.tail) - c.taken }

// Blocks returns the number of full blocks.
func (c *Chain) Blocks() int { return len(c.full) }

// Full reports whether there is no room for another entry, so that Push must not be called.
func (c *Chain) Full() bool { return len(c.tail) == cap(c.tail) }

// Push is Memory.Add for a chain that is not Full.
func (c *Chain) Push(e Entry) { c.tail = append(c.tail, e) }

// Undo removes e if it was added last, and is either not alone in its block or the only entry of the chain. Undo
// reports whether it has removed e.
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

// At returns entry i, counted from the front.
func (c *Chain) At(i int) *Entry { return &c.From(i, 1)[0] }

// From returns up to n entries from entry i on, and at least one if entry i exists.
func (c *Chain) From(i, n int) []Entry {
	i += c.taken
	from := c.tail
	if b := i / BlockLen; b < len(c.full) {
		from, i = c.full[b][:], i%BlockLen
	} else {
		i -= len(c.full) * BlockLen
	}
	return from[i:min(i+n, len(from))]
}

// Back returns up to n of the last entries, and at least one if the chain is not empty.
func (c *Chain) Back(n int) []Entry {
	from := len(c.tail) - n
	if len(c.full) == 0 {
		from = max(from, c.taken)
	}
	return c.tail[max(from, 0):]
}

// Memory holds blocks and tails that chains no longer need, to be reused: the steady state allocates nothing. The zero
// Memory is ready to use.
type Memory struct {
	tails [len(tailSizes)][][]Entry
}

// spareTails is the most tails of each size that are kept: one for each slot of a circle over which a crowd was cascaded.
const spareTails = 64

// fewBlocks is the most blocks that Trim leaves, so that the steady state of small crowds allocates nothing, either.
const fewBlocks = 4

// newTail returns an empty tail with the capacity tailSizes[size].
func (m *Memory) newTail(size int) (tail []Entry) {
	spare := &m.tails[size]
	if last := len(*spare) - 1; last >= 0 {
		tail = (*spare)[last]
		*spare = (*spare)[:last]
		return tail
	}
	return make([]Entry, 0, tailSizes[size])
}

func (m *Memory) keepTail(tail []Entry) {
	for size := range m.tails {
		if cap(tail) == tailSizes[size] && len(m.tails[size]) < spareTails {
			m.tails[size] = append(m.tails[size], tail[:0])
		}
	}
}

// Trim drops memory that only large crowds need.
func (m *Memory) Trim() {
	if blocks := &m.tails[len(tailSizes)-1]; len(*blocks) > fewBlocks {
		*blocks = slices.Clone((*blocks)[:fewBlocks])
	}
}

// Add appends e to c.
func (m *Memory) Add(c *Chain, e Entry) {
	if c.Full() {
		m.grow(c)
	}
	c.tail = append(c.tail, e)
}

// grow makes room for one more entry in c.
func (m *Memory) grow(c *Chain) {
	old := c.tail
	if len(old) == BlockLen {
		c.full = append(c.full, (*block)(old))
		c.tail = m.newTail(len(tailSizes) - 1)
		return
	}
	size := 0
	for tailSizes[size] <= len(old) {
		size++
	}
	c.tail = append(m.newTail(size), old...)
	m.keepTail(old)
}

// Take removes the first n entries of c, which must be the result of From.
func (m *Memory) Take(c *Chain, n int) {
	c.taken += n
	switch {
	case len(c.full) > 0 && c.taken == BlockLen:
		m.keepTail(c.full[0][:])
		c.full[0] = nil
		c.full, c.taken = c.full[1:], 0
	case len(c.full) == 0 && c.taken == len(c.tail):
		c.tail, c.taken = c.tail[:0], 0
	}
}

// Cut removes the last n entries of c, which must be the result of Back.
func (m *Memory) Cut(c *Chain, n int) {
	c.tail = c.tail[:len(c.tail)-n]
	if last := len(c.full) - 1; len(c.tail) == 0 && last >= 0 {
		m.keepTail(c.tail)
		c.tail = c.full[last][:]
		c.full[last] = nil
		c.full = c.full[:last]
	}
	if c.Len() == 0 {
		c.tail, c.taken = c.tail[:0], 0
	}
}

// Clear empties c, which keeps a small tail.
func (m *Memory) Clear(c *Chain) {
	if cap(c.tail) > tailSizes[0] {
		m.Drop(c)
	}
	c.tail, c.taken = c.tail[:0], 0
}

// Drop empties c, which keeps nothing.
func (m *Memory) Drop(c *Chain) {
	m.keepTail(c.tail)
	for _, b := range c.full[:min(len(c.full), spareTails)] {
		m.keepTail(b[:])
	}
	*c = Chain{}
}
