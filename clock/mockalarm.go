package clock

import (
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

func (a *MockAlarm) before(b *MockAlarm) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (a *MockAlarm) position() *int { return &a.index }

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
	m.alarms.Put(a)
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
	m.alarms.Drop(a)
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
		markCallback(int(n), f)
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
