package timers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// inSlots is how many timers the slots of all circles have.
func inSlots(circles []hierarchy.CircleStats) (n int) {
	for _, c := range circles {
		for _, in := range c.Slots {
			n += in
		}
	}
	return n
}

// The hands show a time, each one a digit of it, and each timer is in one slot.
func TestDrivenCircles(t *testing.T) {
	for _, now := range []time.Duration{0, 1, time.Hour, time.Duration(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()), math.MaxInt64} {
		var d hierarchy.Driven[int]
		require.Zero(t, inSlots(d.Circles(now)))
		for range d.Expire(now) {
		}
		for i, due := range []time.Duration{now, now + time.Second, now + time.Hour, now + 365*24*time.Hour, math.MaxInt64, -1, math.MinInt64} {
			d.Set(i, due)
		}
		circles := d.Circles(now)
		require.Equal(t, 7, inSlots(circles))
		shown, bases := time.Duration(0), 0
		for k, c := range circles {
			require.Len(t, c.Slots, 64)
			part := time.Duration(c.Hand) * c.Width
			if k+1 < len(circles) {
				part %= circles[k+1].Width
			}
			shown += part
			if c.Base {
				bases++
			}
		}
		require.Equal(t, now, shown)
		require.Equal(t, 1, bases)
	}
}

// A timer is in the slot that is a digit of its deadline.
func TestDrivenCirclesHaveTimersInTheirSlots(t *testing.T) {
	var d hierarchy.Driven[int]
	h := d.Set(1, 0)
	for k, c := range d.Circles(0) {
		due := 3 * c.Width
		if due <= 0 || due/c.Width != 3 {
			continue // beyond the end of time
		}
		require.True(t, d.Move(h, 0))
		d.Remove(h)
		h = d.Set(1, due)
		stats := d.Circles(0)
		require.Equal(t, 1, stats[k].Slots[3], "circle %d", k)
		require.Equal(t, 1, inSlots(stats))
	}
}
