package state

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Circles returns how the waiting timers are distributed over the circles, on both wheels together, given the owner's
// time and the wall time. The hands show the owner's time.
func (s *State) Circles(now, wall int64) []hierarchy.CircleStats {
	all := s.wheels[0].Circles(time.Duration(now))
	AddCircles(all, s.wheels[1].Circles(time.Duration(wall)))
	return all
}

// AddCircles adds the timers of the circles some to the circles all.
func AddCircles(all, some []hierarchy.CircleStats) {
	for k, c := range some {
		for slot, n := range c.Slots {
			all[k].Slots[slot] += n
		}
	}
}
