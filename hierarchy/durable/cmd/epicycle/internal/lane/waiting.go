// Package lane holds the timers that are due and wait for their attempts. A timer waits for a place at the host of its
// webhook, or for a worker that takes from its queue.
package lane

import (
	"container/heap"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Due is a timer that is due.
type Due struct {
	Key string
	ID  durable.ID
	At  time.Time
}

// waiting holds timers that are due, in order of their due times. It holds at most one timer for each key: a new timer
// replaces an earlier timer with the same key. It is not safe for concurrent use.
type waiting struct {
	order order
	keys  map[string]*item
	seq   uint64
	// checked is the number of timers that were left after the last sweep.
	checked int
}

type item struct {
	Due
	seq uint64 // the order of arrival, for timers that are due at the same time
	at  int    // the index of the item in order
}

// push adds a timer. waits reports whether a timer still waits. push calls waits now and then, to remove timers that do
// not wait any more.
func (w *waiting) push(d Due, waits func(Due) bool) {
	if w.keys == nil {
		w.keys = make(map[string]*item)
	}
	w.seq++
	if it := w.keys[d.Key]; it != nil {
		it.Due, it.seq = d, w.seq
		heap.Fix(&w.order, it.at)
		return
	}
	it := &item{Due: d, seq: w.seq}
	w.keys[d.Key] = it
	heap.Push(&w.order, it)
	if len(w.order) > 2*w.checked+sweepAbove {
		w.sweep(waits)
	}
}

// sweepAbove is the number by which the timers must exceed twice waiting.checked before the next sweep.
const sweepAbove = 1 << 10

// sweep removes the timers that were set, moved or removed since they were pushed.
func (w *waiting) sweep(waits func(Due) bool) {
	kept := w.order[:0]
	for _, it := range w.order {
		if waits(it.Due) {
			it.at = len(kept)
			kept = append(kept, it)
		} else {
			delete(w.keys, it.Key)
		}
	}
	clear(w.order[len(kept):])
	w.order = kept
	heap.Init(&w.order)
	w.checked = len(kept)
}

// pop removes the first timer whose key is allowed.
func (w *waiting) pop(allows func(key string) bool) (d Due, ok bool) {
	var others []*item
	for len(w.order) > 0 && !ok {
		it := heap.Pop(&w.order).(*item)
		if allows != nil && !allows(it.Key) {
			others = append(others, it)
			continue
		}
		delete(w.keys, it.Key)
		d, ok = it.Due, true
	}
	for _, it := range others {
		heap.Push(&w.order, it)
	}
	w.checked = min(w.checked, len(w.order))
	return d, ok
}

func (w *waiting) len() int { return len(w.order) }

// order implements heap.Interface.
type order []*item

func (o order) Len() int { return len(o) }

func (o order) Less(i, j int) bool {
	if c := o[i].At.Compare(o[j].At); c != 0 {
		return c < 0
	}
	return o[i].seq < o[j].seq
}

func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].at, o[j].at = i, j
}

func (o *order) Push(x any) {
	it := x.(*item)
	it.at = len(*o)
	*o = append(*o, it)
}

func (o *order) Pop() any {
	old := *o
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*o = old[:len(old)-1]
	return last
}
