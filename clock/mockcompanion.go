package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
)

// companion is the state that ties the embedded benbjohnson mock to ours. It is
// left alone until somebody makes a timer on it. From then on it is moved at
// every step, as its timers read its time, and elapsed time is read off it, so
// that what its callbacks set is counted from their time.
type companion struct {
	mu     sync.Mutex  // held while it is made active, and while elapsed time moves before
	active atomic.Bool // never unset
	moving atomic.Bool // callbacks of its timers may be running
	wakeMu sync.Mutex
	wakes  []*benbjohnson.Timer // guarded by wakeMu; calls of catchUp, made while moving
}

// activate makes the embedded mock follow.
func (m *Mock) activate() {
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

// arrived ends the moving of the embedded mock, and the calls it was asked for.
func (m *Mock) arrived() {
	m.companion.moving.Store(false)
	m.companion.wakeMu.Lock()
	defer m.companion.wakeMu.Unlock()
	for _, t := range m.companion.wakes {
		t.Stop()
	}
	m.companion.wakes = nil
}

// aimed is called when a wheel aims at a time. If callbacks of the embedded
// mock may be running, that time may come before the embedded mock stops, so
// it is asked to call when it is there.
func (m *Mock) aimed(at time.Duration) {
	m.companion.wakeMu.Lock()
	defer m.companion.wakeMu.Unlock()
	if m.companion.moving.Load() && at < endOfTime { // what is due there is stepped in rounds
		m.companion.wakes = append(m.companion.wakes, m.Mock.AfterFunc(at-m.Elapsed(), m.catchUp))
	}
}

// catchUp steps wheels up to where the embedded mock is on its way.
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

// WaitForAllTimers moves the clock until no timer is pending, neither on a
// wheel nor of benbjohnson's kind, and returns the wall time. With a live
// Repeater or ticker it never returns. It may go further than the last timer, to
// the deadline of one that a benbjohnson callback set on a wheel and stopped.
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

// finishCompanion runs the embedded mock until its last timer.
func (m *Mock) finishCompanion() {
	m.companion.moving.Store(true)
	m.Mock.WaitForAllTimers()
	m.arrived()
	m.runTo(m.Elapsed())
}

// AfterFunc calls f in a goroutine of its own when d has passed.
func (m *Mock) AfterFunc(d time.Duration, f func()) *benbjohnson.Timer {
	m.activate()
	return m.Mock.AfterFunc(d, f)
}

// Timer sends on its channel when d has passed.
func (m *Mock) Timer(d time.Duration) *benbjohnson.Timer {
	m.activate()
	return m.Mock.Timer(d)
}

// Ticker sends on its channel whenever d has passed.
func (m *Mock) Ticker(d time.Duration) *benbjohnson.Ticker {
	m.activate()
	return m.Mock.Ticker(d)
}

// After is Timer(d).C.
func (m *Mock) After(d time.Duration) <-chan time.Time { return m.Timer(d).C }

// Tick is Ticker(d).C.
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

// jumpedContext says the deadline that was asked for; the one below is counted
// without jumps.
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
