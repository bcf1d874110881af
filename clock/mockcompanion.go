package clock

import (
	"sync"
	"sync/atomic"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
)

// companion is the state that ties the benbjohnson mock of a Mock to it. The
// benbjohnson mock does not move until a timer is made on it. From then on it moves at
// every step, because its timers read its time. Elapsed time is then read from it, so
// that timers set by its callbacks are counted from the time of the callback.
type companion struct {
	mu     sync.Mutex  // held to set active, and while elapsed time moves without the benbjohnson mock
	active atomic.Bool // whether the benbjohnson mock moves too; never unset
	moving atomic.Bool // whether callbacks of the benbjohnson mock may be running
	wakeMu sync.Mutex
	wakes  []*benbjohnson.Timer // guarded by wakeMu; timers made while moving, which call catchUp
}

// activate makes the benbjohnson mock move with this one, and returns it.
func (m *Mock) activate() *benbjohnson.Mock {
	m.companion.mu.Lock()
	defer m.companion.mu.Unlock()
	if !m.companion.active.Load() {
		m.inner.Set(m.base.Add(time.Duration(m.elapsed.Load())))
		m.companion.active.Store(true)
	}
	return m.inner
}

// follow moves the benbjohnson mock to at, firing its timers.
func (m *Mock) follow(at time.Duration) {
	m.companion.moving.Store(true)
	defer m.arrived()
	if t := m.base.Add(at); !t.Before(m.inner.Now()) {
		m.inner.Set(t)
	}
}

// arrived ends a move of the benbjohnson mock, and stops the timers that aimed made for it.
func (m *Mock) arrived() {
	m.companion.moving.Store(false)
	m.companion.wakeMu.Lock()
	defer m.companion.wakeMu.Unlock()
	for _, t := range m.companion.wakes {
		t.Stop()
	}
	m.companion.wakes = nil
}

// aimed is called when an alarm is aimed while the benbjohnson mock moves. The time at, at which the alarm is aimed,
// may come before the benbjohnson mock arrives. Therefore aimed sets a timer on the benbjohnson mock that steps the
// wheels at that time.
func (m *Mock) aimed(at time.Duration) {
	m.companion.wakeMu.Lock()
	defer m.companion.wakeMu.Unlock()
	if m.companion.moving.Load() && at < endOfTime { // timers due at the end are stepped in rounds
		m.companion.wakes = append(m.companion.wakes, m.inner.AfterFunc(at-m.Elapsed(), m.catchUp))
	}
}

// catchUp steps the wheels up to the current time of the moving benbjohnson mock.
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
// benbjohnson mock, and returns the wall time. With a live Repeater or ticker it never
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

// finishCompanion moves the benbjohnson mock until its last timer has fired, and then fires
// the timers of wheels that are due.
func (m *Mock) finishCompanion() {
	m.companion.moving.Store(true)
	m.inner.WaitForAllTimers()
	m.arrived()
	m.runTo(m.Elapsed())
}
