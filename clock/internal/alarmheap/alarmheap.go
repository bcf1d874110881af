// Package alarmheap keeps alarms in the order of their times.
package alarmheap

import "container/heap"

// Heap is a heap of alarms. The first one is the next to ring. New makes a Heap.
type Heap[A comparable] struct{ items items[A] }

// New returns an empty heap. before(a, b) reports whether a rings before b. position returns
// where the heap keeps a number for each alarm: 1 + its index in the heap, or 0 if the alarm
// is not in the heap.
func New[A comparable](before func(a, b A) bool, position func(A) *int) Heap[A] {
	return Heap[A]{items[A]{before: before, position: position}}
}

// Len returns the number of alarms.
func (h *Heap[A]) Len() int { return len(h.items.list) }

// First returns the alarm that rings first. The heap must not be empty.
func (h *Heap[A]) First() A { return h.items.list[0] }

// All returns all alarms. The first one is the next to ring. The alarm that rings second is the second or the third
// element.
func (h *Heap[A]) All() []A { return h.items.list }

// Put adds a. If a is already in the heap, Put moves it to the place of its current time.
func (h *Heap[A]) Put(a A) {
	if i := *h.items.position(a); i > 0 {
		heap.Fix(&h.items, i-1)
	} else {
		heap.Push(&h.items, a)
	}
}

// Drop removes a if it is in the heap.
func (h *Heap[A]) Drop(a A) {
	if i := *h.items.position(a); i > 0 {
		heap.Remove(&h.items, i-1)
	}
}

// items implements heap.Interface.
type items[A comparable] struct {
	list     []A
	before   func(a, b A) bool
	position func(A) *int
}

func (x *items[A]) Len() int           { return len(x.list) }
func (x *items[A]) Less(i, j int) bool { return x.before(x.list[i], x.list[j]) }

func (x *items[A]) Swap(i, j int) {
	x.list[i], x.list[j] = x.list[j], x.list[i]
	*x.position(x.list[i]), *x.position(x.list[j]) = i+1, j+1
}

// Push is called by container/heap.
func (x *items[A]) Push(a any) {
	x.list = append(x.list, a.(A))
	*x.position(a.(A)) = len(x.list)
}

// Pop is called by container/heap.
func (x *items[A]) Pop() any {
	last := len(x.list) - 1
	a := x.list[last]
	var none A
	x.list[last] = none
	x.list = x.list[:last]
	*x.position(a) = 0
	return a
}
