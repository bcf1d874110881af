package level

import "math/bits"

const (
	// Bits is the number of bits of a deadline that identify a slot.
	Bits = 6
	// Slots is the number of slots of a circle.
	Slots = 1 << Bits
)

// Level is one circle: its slots, and which of them hold anything. The zero Level is empty and ready
// to use.
type Level[Slot any] struct {
	Occupied uint64 // Invariant, for its owner to keep: bit s is set iff slot s holds anything
	Slots    [Slots]Slot
}

// First returns the lowest slot that holds anything. At least one slot must hold something.
func (l *Level[Slot]) First() int { return bits.TrailingZeros64(l.Occupied) }

// Note records that slot s holds something.
func (l *Level[Slot]) Note(s int) { l.Occupied |= 1 << uint(s) }
