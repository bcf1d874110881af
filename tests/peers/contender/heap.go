package contender

import (
	"container/heap"
	"sync"
	"time"
)

// heapTimers is the simplest implementation by hand: container/heap, a mutex, and a
// goroutine that sleeps until the first timer is due.
type heapTimers struct {
	began time.Time
	first chan struct{} // receives when there is a new first timer
	done  chan struct{}
	close func() // closes done, once

	mu    sync.Mutex
	items items // guarded by mu
}

type item struct {
	at    time.Duration // time at which the item is due, since began
	f     func()
	index int // index in the heap; -1 when the item has fired or was stopped
}

func newHeapTimers() *heapTimers {
	h := &heapTimers{began: time.Now(), first: make(chan struct{}, 1), done: make(chan struct{})}
	h.close = sync.OnceFunc(func() { close(h.done) })
	go h.run()
	return h
}

func (h *heapTimers) afterFunc(d time.Duration, f func()) *item {
	it := &item{at: time.Since(h.began) + d, f: f}
	h.mu.Lock()
	heap.Push(&h.items, it)
	first := it.index == 0
	h.mu.Unlock()
	if first {
		h.wake()
	}
	return it
}

// wake makes run check again when the first timer is due.
func (h *heapTimers) wake() {
	select {
	case h.first <- struct{}{}:
	default:
	}
}

func (h *heapTimers) stop(it *item) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if it.index < 0 {
		return false
	}
	heap.Remove(&h.items, it.index)
	return true
}

func (h *heapTimers) reset(it *item, d time.Duration) bool {
	at := time.Since(h.began) + d
	h.mu.Lock()
	if it.index < 0 {
		h.mu.Unlock()
		return false
	}
	it.at = at
	heap.Fix(&h.items, it.index)
	first := it.index == 0
	h.mu.Unlock()
	if first {
		h.wake()
	}
	return true
}

func (h *heapTimers) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.items)
}

func (h *heapTimers) run() {
	timer := time.NewTimer(time.Hour)
	for {
		timer.Reset(h.fire())
		select {
		case <-timer.C:
		case <-h.first:
		case <-h.done:
			return
		}
	}
}

// fire runs the timers that are due and returns the time to sleep afterwards.
func (h *heapTimers) fire() time.Duration {
	for {
		h.mu.Lock()
		if len(h.items) == 0 {
			h.mu.Unlock()
			return time.Hour
		}
		first := h.items[0]
		if wait := first.at - time.Since(h.began); wait > 0 {
			h.mu.Unlock()
			return wait
		}
		heap.Pop(&h.items)
		h.mu.Unlock()
		go first.f()
	}
}

// items implements heap.Interface.
type items []*item

func (s items) Len() int           { return len(s) }
func (s items) Less(i, j int) bool { return s[i].at < s[j].at }

func (s items) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

func (s *items) Push(x any) {
	it := x.(*item)
	it.index = len(*s)
	*s = append(*s, it)
}

func (s *items) Pop() any {
	last := len(*s) - 1
	it := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	it.index = -1
	return it
}
