package lease

import (
	"container/heap"
	"time"
)

// Heap reimplements etcd's LeaseExpiredNotifier, for comparison. The original can't be used outside of its package,
// because only that package can make its items.
type Heap struct {
	items map[ID]*item
	queue queue
}

// item is a lease that is registered.
type item struct {
	id    ID
	time  time.Time
	index int
}

type queue []*item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].time.Before(q[j].time) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *queue) Push(x any) {
	i := x.(*item)
	i.index = len(*q)
	*q = append(*q, i)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	i := (*q)[last]
	*q = (*q)[:last]
	return i
}

// NewHeap returns an empty Heap.
func NewHeap() *Heap { return &Heap{items: make(map[ID]*item)} }

// RegisterOrUpdate registers a lease, or changes its expiry if it is registered. It makes an item on each call, as a
// lessor does, even if only the item's time is used.
func (h *Heap) RegisterOrUpdate(id ID, expiry time.Time) {
	i := &item{id: id, time: expiry}
	if old, ok := h.items[id]; ok {
		old.time = expiry
		heap.Fix(&h.queue, old.index)
		return
	}
	heap.Push(&h.queue, i)
	h.items[id] = i
}

// Unregister removes the lease that expires first. The heap must not be empty.
func (h *Heap) Unregister() ID {
	i := heap.Pop(&h.queue).(*item)
	delete(h.items, i.id)
	return i.id
}

// Peek returns the lease that expires first and its expiry, and false if there is none.
func (h *Heap) Peek() (id ID, expiry time.Time, ok bool) {
	if h.Len() == 0 {
		return 0, time.Time{}, false
	}
	return h.queue[0].id, h.queue[0].time, true
}

// Len returns the number of leases that are registered.
func (h *Heap) Len() int { return len(h.items) }
