package level

import (
	"math/bits"
	"time"

	"github.com/epicycle-go/epicycle/level/arena"
)

const (
	// Bits is the number of bits of a time that identify a slot: the digit of the time for a circle.
	Bits = arena.SlotBits
	// Slots is the number of slots of a circle.
	Slots = 1 << Bits
)

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

// Slot is what a slot holds: a chain of entries, and earlier entries that were sorted or cascaded ahead of the slot's
// time.
type Slot struct {
	arena.Chain
	// Invariant: both are within the slot. No deadline of the chain or of Sub is below Least. No deadline of the chain
	// was above Most when its entry was added.
	Least, Most int64
	Sub         *Circle // the sub-circle of the entries that were cascaded ahead, or nil
	Run         *Run    // the entries that were sorted ahead, or nil
}

// Holds reports whether anything is in s.
func (s *Slot) Holds() bool { return s.Len() > 0 || s.Sub != nil || s.Run != nil }

// Span extends Least and Most to include key, the deadline of an entry that is about to be added.
func (s *Slot) Span(key int64) {
	if s.Len() == 0 {
		s.Least, s.Most = key, key
	}
	s.Least, s.Most = min(s.Least, key), max(s.Most, key)
}

// Size returns the number of entries that are not in a sub-circle.
func (s *Slot) Size() int {
	n := s.Len()
	if s.Run != nil {
		n += s.Run.Len()
	}
	return n
}

// Width is how wide the slots of a circle are: 1<<Width nanoseconds.
type Width uint8

// Duration returns the width as a duration.
func (w Width) Duration() time.Duration { return 1 << (w & 63) }

// Slot returns the slot of the time t.
func (w Width) Slot(t int64) int { return int(uint64(t)>>(w&63)) & (Slots - 1) }

// Start returns the first time of slot s in the turn that holds the time at.
func (w Width) Start(s int, at int64) int64 {
	turn := w + Bits
	return int64(uint64(at)>>turn<<turn | uint64(s)<<w)
}

// End returns the last time of the slot that starts at start.
func (w Width) End(start int64) int64 { return start | (int64(1)<<w - 1) }
