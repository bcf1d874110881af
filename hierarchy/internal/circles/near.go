package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// nearSample is the most items of a slot or a run that Near reads.
const nearSample = 32

// Near returns about how many timers are due by the time until. It stops counting above most. Of a long slot, Near
// reads only the last few entries, and assumes that the same share of the others is due.
func (c *Circles) Near(until int64, most int) (n int) {
	if c.open != 0 {
		return most + 1 // a crowd is near
	}
	for left := c.running; left != 0; left &= left - 1 {
		n += c.nearIn(c.runs[bits.TrailingZeros32(left)], until)
	}
	for _, o := range []*ordered{&c.instant, &c.overdue} {
		for _, x := range o.front(nearSample) {
			n += c.countIf(x.Entry, until)
		}
	}
	for left := c.occupied; left != 0 && n <= most; left &= left - 1 {
		circle := c.circle[bits.TrailingZeros32(left)]
		for slots := circle.Occupied; slots != 0 && n <= most; slots &= slots - 1 {
			s := bits.TrailingZeros64(slots)
			if circle.Start(s, c.hand) > until {
				break
			}
			n += c.nearInSlot(circle.Slots[s], until, most)
		}
	}
	return n
}

// nearInSlot is Near for a slot.
func (c *Circles) nearInSlot(slot *level.Slot, until int64, most int) (n int) {
	if slot.Sub != nil {
		return most + 1
	}
	if slot.Run != nil {
		n = c.nearIn(slot.Run, until)
	}
	all := slot.Len()
	sample := min(all, nearSample)
	found := 0
	for i := all - sample; i < all; i++ {
		found += c.countIf(*slot.At(i), until)
	}
	if sample > 0 {
		n += found * all / sample
	}
	return n
}

// nearIn is Near for r.
func (c *Circles) nearIn(r *level.Run, until int64) (n int) {
	for i := r.At; i < min(r.At+nearSample, len(r.Items)) && r.Items[i].Key <= until; i++ {
		n += c.countIf(r.Items[i].Entry, until)
	}
	return n
}

// countIf returns 1 if e is not stale and its timer is due by the time until, and 0 otherwise.
func (c *Circles) countIf(e arena.Entry, until int64) int {
	if n := c.arena.At(e.Node); n.Named(e.Stamp) && n.Key <= until {
		return 1
	}
	return 0
}
