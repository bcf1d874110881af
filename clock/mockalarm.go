package clock

import (
	"container/heap"
	"sync"
	"time"
)

// MockAlarm is an alarm of a Mock. To its owner it is an Alarm like any other;
// a wheel also uses Attach, by which the Mock steps it instead of ringing, and
// the methods by which the Mock orders and counts what is set on its wheels.
type MockAlarm struct {
	mock    *Mock
	wheel   Stepped // who is asked and stepped: a bell, or what was attached
	at      time.Duration
	order   uint64
	version uint64 // of the aim
	index   int    // 1 + place in the heap, or 0; all guarded by mock.mu
}

// NewAlarm makes an alarm that rings inside Add, Set and AddNext.
func (m *Mock) NewAlarm(ring func()) Alarm {
	b := &bell{ring: ring}
	a := &MockAlarm{mock: m, wheel: b}
	b.alarm = a
	return a
}

// Set aims the alarm.
func (a *MockAlarm) Set(elapsed time.Duration) {
	m := a.mock
	m.mu.Lock()
	a.version++
	a.at, a.order = elapsed, 0
	if b, ok := a.wheel.(*bell); ok {
		a.order = m.orders.Add(1)
		b.aim(a.at, a.order)
	}
	m.alarms.put(a)
	m.mu.Unlock()
	if m.companion.moving.Load() {
		m.aimed(elapsed)
	}
}

// Stop takes the aim away.
func (a *MockAlarm) Stop() {
	m := a.mock
	m.mu.Lock()
	defer m.mu.Unlock()
	a.version++
	if b, ok := a.wheel.(*bell); ok {
		b.stop()
	}
	m.alarms.drop(a)
}

// Attach has the Mock step w from now on, rather than ring. It must come before
// the first Set.
func (a *MockAlarm) Attach(w Stepped) {
	a.mock.mu.Lock()
	defer a.mock.mu.Unlock()
	a.wheel = w
	a.mock.wheels[a] = struct{}{}
}

// Detach ends Attach and stops the alarm: its wheel is closed.
func (a *MockAlarm) Detach() {
	a.Stop()
	a.mock.mu.Lock()
	delete(a.mock.wheels, a)
	a.mock.mu.Unlock()
	a.mock.notify()
}

// NextOrder is the place, in the order of everything set on this Mock, of what
// is being set. It takes no lock. Noted must follow.
func (a *MockAlarm) NextOrder() uint64 {
	a.mock.setting.Add(1)
	return a.mock.orders.Add(1)
}

// Noted says that what NextOrder was called for is set and aimed at.
func (a *MockAlarm) Noted() {
	a.mock.setting.Add(-1)
	a.mock.notify()
}

// notify tells those who wait in WaitFor that something was set.
func (m *Mock) notify() {
	if m.waiting.Load() == 0 {
		return
	}
	m.mu.Lock()
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
	m.mu.Unlock()
}

// Run calls f as a callback of this Mock, in which moving it panics; unless the
// move that f belongs to was cut short, by a panic of another callback.
func (a *MockAlarm) Run(f func()) {
	if n := a.mock.number.Load(); n != atRest {
		mark(int(n), f)
	} else {
		f()
	}
}

// bell is the Stepped of an alarm that only rings.
type bell struct {
	alarm *MockAlarm
	ring  func()
	mu    sync.Mutex
	at    time.Duration
	order uint64
	armed bool
}

func (b *bell) aim(at time.Duration, order uint64) {
	b.mu.Lock()
	b.at, b.order, b.armed = at, order, true
	b.mu.Unlock()
}

func (b *bell) stop() {
	b.mu.Lock()
	b.armed = false
	b.mu.Unlock()
}

func (b *bell) Nearest() (time.Duration, uint64, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at, b.order, b.armed
}

func (b *bell) Step(uint64) {
	b.mu.Lock()
	due := b.armed && b.at <= b.alarm.mock.Elapsed()
	if due {
		b.armed = false
	}
	b.mu.Unlock()
	if due {
		b.ring()
	}
}

func (b *bell) Settle() bool { return false }
func (b *bell) Len() int     { return 0 }

// alarmHeap is a heap of aimed alarms by (at, order).
type alarmHeap []*MockAlarm

func (h *alarmHeap) put(a *MockAlarm) {
	if a.index == 0 {
		heap.Push(h, a)
	} else {
		heap.Fix(h, a.index-1)
	}
}

func (h *alarmHeap) drop(a *MockAlarm) {
	if a.index != 0 {
		heap.Remove(h, a.index-1)
	}
}

func (h alarmHeap) Len() int { return len(h) }

func (h alarmHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}

func (h alarmHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

// Push is for container/heap.
func (h *alarmHeap) Push(x any) {
	a := x.(*MockAlarm)
	*h = append(*h, a)
	a.index = len(*h)
}

// Pop is for container/heap.
func (h *alarmHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.index = 0
	return a
}
