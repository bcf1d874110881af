package durable

import (
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Circles tells where the timers of all partitions are that wait, finest circle first, as a page of
// package hierarchy/durable/view shows it. The hands are at the time since the Unix epoch. It does
// not walk over timers. Without a partition that this process owns, there is no circle.
func (w *Keyed[K, V]) Circles() []hierarchy.CircleStats {
	var all []hierarchy.CircleStats
	for at := range w.owners.Len() {
		p, _ := w.owners.Partition(at)
		if p == nil {
			continue
		}
		if some := p.Circles(); all == nil {
			all = some
		} else {
			state.AddCircles(all, some)
		}
	}
	return all
}
