package level

import "math/bits"

// Circle is one circle of a wheel, or the sub-circle of a slot. Its slots are made when something is put into them.
type Circle struct {
	Occupied uint64 // Invariant: bit s is set iff slot s is not nil
	Slots    [Slots]*Slot
	// Crowds has the slots that may have to be cascaded. Invariant: bit s is set if slot s has too many entries to be
	// sorted, or has such slots in its sub-circle.
	Crowds uint64
	Live   [Slots]int32 // Invariant: number of nodes linked in each slot; 0 in a sub-circle
	Number int          // counted from the finest circle of the wheel
	Index  int          // among all circles and sub-circles
	Width
}

// First returns the lowest slot that holds anything. At least one slot must hold something.
func (c *Circle) First() int { return bits.TrailingZeros64(c.Occupied) }

// Has reports whether slot s holds anything.
func (c *Circle) Has(s int) bool { return c.Occupied>>uint(s)&1 == 1 }

// Put makes x slot s, which holds nothing yet.
func (c *Circle) Put(s int, x *Slot) {
	c.Slots[s] = x
	c.Occupied |= 1 << uint(s)
}

// Vacate takes slot s out, which holds nothing any more.
func (c *Circle) Vacate(s int) *Slot {
	x := c.Slots[s]
	c.Slots[s] = nil
	c.Occupied &^= 1 << uint(s)
	c.Crowds &^= 1 << uint(s)
	return x
}
