package hierarchy

import "time"

// Circles tells where the timers are, finest circle first, with the hands at now. A timer whose
// deadline has moved later is counted in the slot that it still sits in. Circles does not go over
// timers: it costs a few microseconds.
func (d *Driven[T]) Circles(now time.Duration) []CircleStats {
	stats := emptyCircles(&drivenLayout, int64(now))
	if d.timers == nil {
		return stats
	}
	for k := range stats {
		for slot := range stats[k].Slots {
			stats[k].Slots[slot] = d.timers.InSlot(k, slot)
		}
	}
	return stats
}
