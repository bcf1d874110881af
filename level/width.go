package level

import (
	"time"

	"github.com/epicycle-go/epicycle/level/arena"
)

const (
	// Bits is the number of bits of a time that identify a slot: the digit of the time for a circle.
	Bits = arena.SlotBits
	// Slots is the number of slots of a circle.
	Slots = 1 << Bits
)

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
