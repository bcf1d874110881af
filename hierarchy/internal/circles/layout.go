package circles

import (
	"math"
	"math/bits"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

const (
	topBit     = 62                                   // the highest bit of a time that is not negative
	maxCircles = (topBit+level.Bits-1)/level.Bits + 1 // 12
)

// Layout places times on circles by arithmetic on bits. A turn of circle k is a slot of circle k+1. One circle, the base
// circle, has slots as wide as the power of two nearest to the Interval. To reach that width, the boundaries of all
// circles may be offset by some bits. Circle 0 then has fewer slots. Circles finer than the base circle are its
// sub-circles, and coarser ones are overflow circles.
type Layout struct {
	offset int             // 0..5: circle k holds the bits from level.Bits*k-offset on
	base   int             // the base circle
	count  int             // the number of circles
	widths [16]level.Width // by circle; the length of 16 spares a check of bounds
}

// NewLayout returns the layout whose base circle has slots about as wide as interval.
func NewLayout(interval time.Duration) Layout {
	b := nearestPower(int64(interval))
	offset := (level.Bits - b%level.Bits) % level.Bits
	l := Layout{offset: offset, base: (b + offset) / level.Bits}
	l.placeCircles(topBit)
	return l
}

// placeCircles makes circles for all bits up to top.
func (l *Layout) placeCircles(top int) {
	l.count = (top+l.offset)/level.Bits + 1
	for k := range l.count {
		l.widths[k] = level.Width(max(0, level.Bits*k-l.offset))
	}
}

// nearestPower returns the e for which 1<<e is nearest to n, by ratio.
func nearestPower(n int64) int {
	e := bits.Len64(uint64(n)) - 1
	if n > 0 && float64(n) >= math.Sqrt2*math.Exp2(float64(e)) {
		e++
	}
	return min(max(e, 0), topBit)
}

// Circles returns the number of circles.
func (l *Layout) Circles() int { return l.count }

// Base returns the base circle.
func (l *Layout) Base() int { return l.base }

// Width returns the width of a slot of circle k.
func (l *Layout) Width(k int) time.Duration { return l.width(k).Duration() }

func (l *Layout) width(k int) level.Width { return l.widths[k&15] }

// CircleFor returns the circle of t when the hand is at hand: the circle of the highest bit in which t and hand differ.
func (l *Layout) CircleFor(t, hand int64) int {
	return int(uint(bits.Len64(uint64(t^hand)|1)-1+l.offset) / level.Bits)
}

// SlotFor returns the slot of t on circle k, which is the digit of t for circle k.
func (l *Layout) SlotFor(k int, t int64) int { return l.width(k).Slot(t) }
