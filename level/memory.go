package level

import "slices"

// Memory is blocks and tails that chains no longer need, for others: the steady state allocates nothing. The
// zero Memory is ready to use.
type Memory struct {
	tails [len(tailSizes)][][]Entry
}

// spareTails is how many tails of each size are kept: those of a circle into which a crowd was dealt.
const spareTails = 64

// fewBlocks is how many blocks Trim leaves: the steady state of small crowds allocates nothing, either.
const fewBlocks = 4

// newTail returns an empty tail of that size.
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

// Trim drops what only large crowds need.
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

// Take drops the first n entries of c, which Front has returned.
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

// Cut drops the last n entries of c, which Back has returned.
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
