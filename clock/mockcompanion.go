package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
)

// companion is the state that ties the embedded benbjohnson mock to this one. The
// embedded mock does not move until a timer is made on it. From then on it moves at
// every step, because its timers read its time. Elapsed time is then read from it, so
// that timers set by its callbacks are counted from the time of the callback.
type companion struct {
	mu     sync.Mutex  // held to set active, and while elapsed time moves without the embedded mock
	active atomic.Bool // whether the embedded mock moves too; never unset
	moving atomic.Bool // callbacks of its timers may be running
	wakeMu sync.Mutex
	wakes  []*benbjohnson.Timer // guarded by wakeMu; timers made while moving, which call catchUp
}

// activate makes the embedded mock move with this one.
func (m *Mock) activate() {
	m.requireMade()
	m.companion.mu.Lock()
	defer m.companion.mu.Unlock()
	if !m.companion.active.Load() {
		m.Mock.Set(m.base.Add(time.Duration(m.elapsed.Load())))
		m.companion.active.Store(true)
	}
}

// follow moves the embedded mock to at, firing its timers.
func (m *Mock) follow(at time.Duration) {
	m.companion.moving.Store(true)
	defer m.arrived()
	if t := m.base.Add(at); !t.Before(m.Mock.Now()) {
		m.Mock.Set(t)
	}
}

// arrived ends a move of the embedded mock, and stops the timers that aimed made for it.
func (m *Mock) arrived() {
	m.companion.moving.Store(false)
	m.companion.wakeMu.Lock()
	defer m.companion.wakeMu.Unlock()
	for _, t := range m.companion.wakes {
		t.Stop()
	}
	m.companion.wakes = nil
}

// aimed is called when an alarm is aimed while the embedded mock moves. That time may
// come before the embedded mock arrives. Therefore aimed sets a timer on it that steps
// the wheels at that time.
func (m *Mock) aimed(at time.Duration) {
	m.companion.wakeMu.Lock()
	defer m.companion.wakeMu.Unlock()
	if m.companion.moving.Load() && at < endOfTime { // timers due at the end are stepped in rounds
		m.companion.wakes = append(m.companion.wakes, m.Mock.AfterFunc(at-m.Elapsed(), m.catchUp))
	}
}

// catchUp steps the wheels up to the current time of the moving embedded mock.
func (m *Mock) catchUp() {
	m.stepMu.Lock()
	defer m.stepMu.Unlock()
	if n := m.number.Load(); n != atRest && m.companion.moving.Load() {
		markCallback(int(n), m.stepDue)
	}
}

func (m *Mock) stepDue() {
	for {
		m.ending.reach(m)
		next, ok := m.earliest(m.Elapsed())
		if !ok && !m.settle() {
			return
		}
		if ok {
			m.unsettled = append(m.unsettled, next.wheel)
			next.wheel.Step(next.limit)
		}
	}
}

// WaitForAllTimers moves the clock until no timer is pending, on a wheel or on the
// embedded mock, and returns the wall time. With a live Repeater or ticker it never
// returns. It may move further than the last timer, to the deadline of a timer that a
// benbjohnson callback set on a wheel and stopped.
func (m *Mock) WaitForAllTimers() time.Time {
	for {
		_, ok := m.AddNext()
		if ok {
			continue
		}
		if m.companion.active.Load() {
			m.move("WaitForAllTimers", m.finishCompanion)
		}
		if _, ok := m.Next(); !ok {
			return m.Now()
		}
	}
}

// finishCompanion moves the embedded mock until its last timer has fired, and then fires
// the timers of wheels that are due.
func (m *Mock) finishCompanion() {
	m.companion.moving.Store(true)
	m.Mock.WaitForAllTimers()
	m.arrived()
	m.runTo(m.Elapsed())
}

// AfterFunc returns a timer that calls f in a goroutine of its own when d has passed.
func (m *Mock) AfterFunc(d time.Duration, f func()) *benbjohnson.Timer {
	m.activate()
	return m.Mock.AfterFunc(d, f)
}

// Timer returns a timer that sends on its channel when d has passed.
func (m *Mock) Timer(d time.Duration) *benbjohnson.Timer {
	m.activate()
	return m.Mock.Timer(d)
}

// Ticker returns a ticker that sends on its channel each time d has passed.
func (m *Mock) Ticker(d time.Duration) *benbjohnson.Ticker {
	m.activate()
	return m.Mock.Ticker(d)
}

// After returns Timer(d).C.
func (m *Mock) After(d time.Duration) <-chan time.Time { return m.Timer(d).C }

// Tick returns Ticker(d).C.
func (m *Mock) Tick(d time.Duration) <-chan time.Time { return m.Ticker(d).C }

// Sleep returns when d has passed.
func (m *Mock) Sleep(d time.Duration) { <-m.After(d) }

// WithDeadline is context.WithDeadline on this clock.
func (m *Mock) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	m.activate()
	ctx, cancel := m.Mock.WithDeadline(parent, t.Add(-time.Duration(m.jumped.Load())))
	if _, ok := ctx.Deadline(); ok && m.jumped.Load() != 0 {
		ctx = jumpedContext{ctx, t}
	}
	return ctx, cancel
}

// jumpedContext returns the deadline that WithDeadline was called with. The context that
// it embeds counts its deadline without jumps.
type jumpedContext struct {
	context.Context
	deadline time.Time
}

func (c jumpedContext) Deadline() (time.Time, bool) { return c.deadline, true }

// WithTimeout is context.WithTimeout on this clock.
func (m *Mock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return m.WithDeadline(parent, m.Now().Add(d))
}

var _ benbjohnson.Clock = (*Mock)(nil)
