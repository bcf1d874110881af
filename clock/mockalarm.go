package clock

import (
	"sync"
	"time"
)

// mockAlarm is an alarm of a Mock. To its owner it is an Alarm like any other. To a wheel it is also a
// MockAlarm: after Attach, the Mock steps the wheel instead of ringing the alarm. NextOrder and Noted let
// the Mock order and count the timers that are set on its wheels.
type mockAlarm struct {
	mock    *Mock         // immutable
	wheel   MockWheel     // a bell, or the attached wheel; guarded by mock.mu, like the fields below
	at      time.Duration // the aim
	order   uint64        // order of the timer to fire at the aim; 0 if not known yet
	version uint64        // number of calls of Set and Stop
	index   int           // 1 + the alarm's index in the heap; 0 if it is not in the heap
	jumped  func()        // the function passed to OnJump
}

var _ MockAlarm = (*mockAlarm)(nil)

func (a *mockAlarm) before(b *mockAlarm) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (a *mockAlarm) position() *int { return &a.index }

// NewAlarm returns an alarm that rings inside Add, Set and AddNext.
func (m *Mock) NewAlarm(ring func()) Alarm {
	m.requireMade()
	b := &bell{ring: ring}
	a := &mockAlarm{mock: m, wheel: b}
	b.alarm = a
	return a
}

// Set aims the alarm.
func (a *mockAlarm) Set(elapsed time.Duration) {
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

// Stop removes the aim.
func (a *mockAlarm) Stop() {
	m := a.mock
	m.mu.Lock()
	defer m.mu.Unlock()
	a.version++
	if b, ok := a.wheel.(*bell); ok {
		b.stop()
	}
	m.alarms.Drop(a)
}

// Attach implements MockAlarm.
func (a *mockAlarm) Attach(w MockWheel) {
	a.mock.mu.Lock()
	defer a.mock.mu.Unlock()
	a.wheel = w
	a.mock.wheels[a] = struct{}{}
}

// Detach implements MockAlarm.
func (a *mockAlarm) Detach() {
	a.Stop()
	a.mock.mu.Lock()
	delete(a.mock.wheels, a)
	a.mock.mu.Unlock()
	a.mock.notify()
}

// NextOrder implements MockAlarm.
func (a *mockAlarm) NextOrder() uint64 {
	a.mock.setting.Add(1)
	return a.mock.orders.Add(1)
}

// Noted implements MockAlarm.
func (a *mockAlarm) Noted() {
	a.mock.setting.Add(-1)
	a.mock.notify()
}

// notify wakes the calls of WaitFor, after a timer was set or a wheel detached.
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

// Run implements MockAlarm.
func (a *mockAlarm) Run(f func()) {
	if n := a.mock.number.Load(); n != atRest {
		markCallback(int(n), f)
	} else {
		f()
	}
}

// bell is the MockWheel of an alarm that only rings.
type bell struct {
	alarm *mockAlarm
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
