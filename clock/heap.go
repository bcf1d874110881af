package clock

import "container/heap"

// aims is a heap of alarms that are aimed, the next to ring first.
type aims[A aimed[A]] struct{ order aimOrder[A] }

// aimed is an alarm in a heap.
type aimed[A any] interface {
	comparable
	before(A) bool
	// place is 1 + where the alarm is in the heap, or 0; the heap writes it.
	place() *int
}

func (h *aims[A]) len() int     { return len(h.order) }
func (h *aims[A]) first() A     { return h.order[0] }
func (h *aims[A]) has(a A) bool { return *a.place() != 0 }

// put adds a, or finds its new place when its aim has changed.
func (h *aims[A]) put(a A) {
	if h.has(a) {
		heap.Fix(&h.order, *a.place()-1)
	} else {
		heap.Push(&h.order, a)
	}
}

// drop takes a out, if it is in the heap.
func (h *aims[A]) drop(a A) {
	if h.has(a) {
		heap.Remove(&h.order, *a.place()-1)
	}
}

// aimOrder is for container/heap.
type aimOrder[A aimed[A]] []A

func (o aimOrder[A]) Len() int           { return len(o) }
func (o aimOrder[A]) Less(i, j int) bool { return o[i].before(o[j]) }

func (o aimOrder[A]) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	*o[i].place(), *o[j].place() = i+1, j+1
}

// Push is for container/heap.
func (o *aimOrder[A]) Push(x any) {
	a := x.(A)
	*o = append(*o, a)
	*a.place() = len(*o)
}

// Pop is for container/heap.
func (o *aimOrder[A]) Pop() any {
	last := len(*o) - 1
	a := (*o)[last]
	var none A
	(*o)[last] = none
	*o = (*o)[:last]
	*a.place() = 0
	return a
}
