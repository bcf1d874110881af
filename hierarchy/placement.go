package hierarchy

import (
	"math"
	"math/bits"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// Times inside a wheel are int64 nanoseconds of elapsed time.
const (
	never     int64 = math.MaxInt64 // the saturated deadline too: 292 years
	topBit          = 62            // highest bit of a time
	maxLevels       = (topBit+level.Bits-1)/level.Bits + 1
)

// defaultCrowd is the largest list that is sorted where it is. A larger one
// that is out of order is cascaded, which spreads it over 64 finer slots.
const defaultCrowd = 32

// layout places times on circles by arithmetic on bits. The slots of circle k
// are 1<<shift(k) wide, a turn of circle k is a slot of circle k+1, and one
// circle's slots are as wide as the power of two nearest to Interval. To hit
// that, boundaries may be offset: then circle 0 turns after fewer slots.
type layout struct {
	offset int // 0..5: circle k holds the bits from level.Bits*k-offset on
	base   int // the circle whose slots are about Interval wide
	levels int
	crowd  int       // the largest list that is sorted where it is, defaultCrowd but in tests
	shifts [16]uint8 // by circle; 16 spares a check of bounds

	foreseen int   // defaultForeseen but in tests
	pourTime int64 // defaultPourTime but in tests
	sparse   int   // defaultSparse but in tests
}

func newLayout(interval time.Duration) layout {
	b := nearestPower(int64(interval))
	offset := (level.Bits - b%level.Bits) % level.Bits
	l := layout{
		offset: offset, base: (b + offset) / level.Bits,
		levels: (topBit+offset)/level.Bits + 1, crowd: defaultCrowd,
		foreseen: defaultForeseen, pourTime: defaultPourTime, sparse: defaultSparse,
	}
	for k := range l.levels {
		l.shifts[k] = uint8(max(0, level.Bits*k-offset))
	}
	return l
}

// nearestPower is the e for which 1<<e is nearest to n, by ratio.
func nearestPower(n int64) int {
	e := bits.Len64(uint64(n)) - 1
	if n > 0 && float64(n) >= math.Sqrt2*math.Exp2(float64(e)) {
		e++
	}
	return min(max(e, 0), topBit)
}

// shift is the number of bits below circle k's digit.
func (l *layout) shift(k int) uint { return uint(l.shifts[k&15]) }

// levelFor is the circle on which t sits when the hand is at hand <= t: that of
// the highest bit in which they differ. So whatever sits on a finer circle is
// due before anything on a coarser one.
func (l *layout) levelFor(t, hand int64) int {
	return int(uint(bits.Len64(uint64(t^hand)|1)-1+l.offset) / level.Bits)
}

// slotFor is the slot of t on circle k: that digit of t.
func (l *layout) slotFor(k int, t int64) int {
	return int(uint64(t)>>(l.shift(k)&63)) & (level.Slots - 1)
}

// slotStart is the first time of slot s on circle k in the turn that hand is in.
func (l *layout) slotStart(k, s int, hand int64) int64 {
	turn := l.shift(k) + level.Bits
	return hand>>turn<<turn | int64(s)<<l.shift(k)
}

// slotEnd is the last time of the slot that starts at start.
func (l *layout) slotEnd(k int, start int64) int64 {
	return start | (int64(1)<<l.shift(k) - 1)
}

// deadlineAfter is now + d, saturating; what lies in the past is due now.
func deadlineAfter(now int64, d time.Duration) int64 {
	if d <= 0 {
		return now
	}
	if t := now + int64(d); t >= now {
		return t
	}
	return never
}
