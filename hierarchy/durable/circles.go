package durable

import (
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Circles returns how the waiting timers are distributed over the circles of this process's partitions, finest circle
// first, for the page of package hierarchy/durable/view. The hands show the time since the Unix epoch. The cost does
// not depend on the number of timers. If this process owns no partition, there are no circles.
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
