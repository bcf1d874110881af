package main

import (
	"container/heap"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// index is the place of an event where each has its own.
func (e event) index() int {
	if e.timeout {
		return 2*int(e.machine) + 1
	}
	return 2 * int(e.machine)
}

// heapAgenda is a heap whose items are made once.
type heapAgenda struct {
	items  []heapItem // of all events
	heap   eventHeap
	number uint64
}

type heapItem struct {
	event
	due    time.Duration
	number uint64 // of the call that has set it
	at     int    // where it is in the heap
}

func newHeapAgenda(n int) agenda {
	return &heapAgenda{items: make([]heapItem, 2*n), heap: make(eventHeap, 0, 2*n)}
}

func (a *heapAgenda) set(e event, due time.Duration) {
	a.number++
	item := &a.items[e.index()]
	*item = heapItem{event: e, due: due, number: a.number}
	heap.Push(&a.heap, item)
}

func (a *heapAgenda) remove(e event) { heap.Remove(&a.heap, a.items[e.index()].at) }

func (a *heapAgenda) run(handle func(event, time.Duration) bool) {
	for {
		item := heap.Pop(&a.heap).(*heapItem)
		if !handle(item.event, item.due) {
			return
		}
	}
}

type eventHeap []*heapItem

func (h eventHeap) Len() int { return len(h) }

func (h eventHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].number < h[j].number
}

func (h eventHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *eventHeap) Push(x any) {
	item := x.(*heapItem)
	item.at = len(*h)
	*h = append(*h, item)
}

func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	*h = (*h)[:last]
	return item
}

// drivenAgenda is a Driven, with the handles of all events.
type drivenAgenda struct {
	wheel   hierarchy.Driven[event]
	handles []hierarchy.Handle
}

func newDrivenAgenda(n int) agenda { return &drivenAgenda{handles: make([]hierarchy.Handle, 2*n)} }

func (a *drivenAgenda) set(e event, due time.Duration) {
	a.handles[e.index()] = a.wheel.Set(e, due)
}

func (a *drivenAgenda) remove(e event) { a.wheel.Remove(a.handles[e.index()]) }

func (a *drivenAgenda) run(handle func(event, time.Duration) bool) {
	for {
		next, _ := a.wheel.Next()
		for e, due := range a.wheel.Expire(next) {
			if !handle(e, due) {
				return
			}
		}
	}
}

// mockAgenda is a wheel on a mock clock, which moves from one event to the next.
type mockAgenda struct {
	clock  *clock.Mock
	wheel  *hierarchy.Of[event]
	timers []hierarchy.Timer
	handle func(event, time.Duration) bool
	ended  bool
}

func newMockAgenda(n int) agenda {
	a := &mockAgenda{clock: clock.NewMock(), timers: make([]hierarchy.Timer, 2*n)}
	var err error
	if a.wheel, err = hierarchy.NewOf(hierarchy.Config{Clock: a.clock}, a.fire); err != nil {
		panic(err)
	}
	return a
}

func (a *mockAgenda) fire(e event) {
	if !a.ended {
		a.ended = !a.handle(e, a.clock.Elapsed())
	}
}

func (a *mockAgenda) set(e event, due time.Duration) {
	t, err := a.wheel.Set(e, due-a.clock.Elapsed())
	if err != nil {
		panic(err)
	}
	a.timers[e.index()] = t
}

func (a *mockAgenda) remove(e event) { a.timers[e.index()].Stop() }

func (a *mockAgenda) run(handle func(event, time.Duration) bool) {
	a.handle = handle
	for !a.ended {
		a.clock.Add(time.Second)
	}
	a.wheel.Stop()
}
