package circles

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
)

func TestNearestPower(t *testing.T) {
	for n, want := range map[time.Duration]int{
		1: 0, 2: 1, 3: 2, 5: 2, 6: 3, 1 << 20: 20, 1<<20 - 1: 20, 1<<20 + 1: 20,
		time.Second: 30, 10 * time.Millisecond: 23, math.MaxInt64: topBit,
	} {
		require.Equal(t, want, nearestPower(int64(n)), "%d", n)
	}
}

// The slots of every circle are a power of two wide. A turn of a circle is one slot of the
// next. The width of the base circle's slots is the power nearest to Interval. All circles
// together reach to the end of time.
func TestLayout(t *testing.T) {
	for e := range 63 {
		for _, interval := range []time.Duration{1<<e - 1, 1 << e, 1<<e + 1} {
			if interval <= 0 {
				continue
			}
			l := NewLayout(interval)
			width := float64(int64(1) << l.width(l.base))
			ratio := width / float64(interval)
			require.InDelta(t, 0, math.Log2(ratio), 0.501, "interval %d: base %v", interval, width)
			require.EqualValues(t, 0, l.width(0))
			for k := 2; k < l.count; k++ {
				require.Equal(t, l.width(k-1)+level.Bits, l.width(k))
			}
			require.LessOrEqual(t, l.count, maxCircles)
			require.Equal(t, l.count-1, l.CircleFor(math.MaxInt64, 0))
		}
	}
}

func TestLevelAndSlotAtEachBoundary(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 10 * time.Millisecond, 1, 7} {
		l := NewLayout(interval)
		for k := 1; k < l.count; k++ {
			width := int64(1) << l.width(k)
			require.Equal(t, k-1, l.CircleFor(width-1, 0), "one nanosecond less than a slot of circle %d", k)
			require.Equal(t, k, l.CircleFor(width, 0))
			require.Equal(t, k, l.CircleFor(width+1, 0))
			require.Equal(t, 0, l.SlotFor(k, width-1))
			require.Equal(t, 1, l.SlotFor(k, width))
			require.Equal(t, 1, l.SlotFor(k, 2*width-1))
			if k < l.count-1 {
				require.Equal(t, k, l.CircleFor(2*width, width), "with the hand on the slot before")
			}
		}
	}
}

// What a wheel shows of its circles: their number, the base, widths and hands.
func TestLayoutAsItIsShown(t *testing.T) {
	var l Layout = NewLayout(time.Second)
	require.Equal(t, time.Duration(1<<30), l.Width(l.Base()))
	require.Equal(t, time.Duration(1), l.Width(0))
	require.Greater(t, l.Width(l.Circles()-1), time.Duration(math.MaxInt64/64))
	require.Equal(t, 3, l.SlotFor(l.Base(), 3<<30+5))
}
