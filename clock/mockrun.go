package clock

import (
	"math"
	"time"
)

// move runs f, which may move the clock. It waits until no other call moves the clock,
// and panics inside a callback of this mock.
func (m *Mock) move(method string, f func()) {
	m.requireMade()
	if !m.moveMu.TryLock() {
		if n := m.number.Load(); n != atRest && insideCallback(int(n)) {
			panic("clock: Mock." + method + " called inside a callback of that mock")
		}
		m.moveMu.Lock()
	}
	defer m.moveMu.Unlock()
	n := takeNumber()
	defer returnNumber(n)
	m.number.Store(int32(n))
	defer m.number.Store(atRest)
	markCallback(n, f)
}

// runTo moves the clock to target, from deadline to deadline, and fires the timers that
// are due on the way.
func (m *Mock) runTo(target time.Duration) {
	m.stepMu.Lock()
	defer m.stepMu.Unlock()
	m.aimWheels()
	m.stepTo(target)
	m.moveTo(target)
	if m.companion.active.Load() {
		m.stepTo(target) // fires timers that callbacks of the benbjohnson mock have set
	}
}

// aimWheels makes every wheel aim at its nearest deadline, if timers are being set. A
// timer is pending, and seen by WaitFor, a moment before its wheel aims at it.
func (m *Mock) aimWheels() {
	if m.setting.Load() == 0 {
		return
	}
	for _, w := range m.allStepped() {
		w.Nearest()
	}
}

func (m *Mock) stepTo(target time.Duration) {
	defer func() { m.ending = ending{} }()
	for {
		if target == endOfTime {
			m.ending.reach(m)
		}
		next, ok := m.earliest(target)
		if !ok || next.at > m.Elapsed() {
			if m.settle() {
				continue // callbacks may have set an earlier timer
			}
			if !ok && m.ending.again(m) {
				continue // callbacks have set a timer at the end of time
			}
			if !ok {
				return
			}
			if m.moveTo(next.at) || next.tied {
				continue // callbacks of the benbjohnson mock may have set an earlier timer; orders are known now
			}
		}
		m.unsettled = append(m.unsettled, next.wheel)
		next.wheel.Step(next.limit)
	}
}

// moveTo moves elapsed time to at, and the benbjohnson mock if it is active. It reports
// whether it moved the benbjohnson mock.
func (m *Mock) moveTo(at time.Duration) bool {
	if at <= time.Duration(m.elapsed.Load()) && !m.companion.active.Load() || m.moveAlone(at) {
		return false
	}
	m.stepMu.Unlock() // lets catchUp step wheels
	m.follow(at)
	m.stepMu.Lock()
	if int64(at) <= m.elapsed.Load() {
		return false
	}
	m.elapsed.Store(int64(at))
	return true
}

// moveAlone moves elapsed time to at, unless the benbjohnson mock is active. It reports whether it moved elapsed time.
func (m *Mock) moveAlone(at time.Duration) bool {
	m.companion.mu.Lock()
	defer m.companion.mu.Unlock()
	if m.companion.active.Load() {
		return false
	}
	m.elapsed.Store(int64(at))
	return true
}

// settle waits for the callbacks of the wheels stepped since the last settle, and reports
// whether there were any.
func (m *Mock) settle() (waited bool) {
	for _, w := range m.unsettled {
		waited = w.Settle() || waited
	}
	clear(m.unsettled)
	m.unsettled = m.unsettled[:0]
	return waited
}

// due is the wheel to step next.
type due struct {
	wheel MockWheel
	at    time.Duration // nearest deadline of the wheel
	limit uint64        // timers whose order is limit or above may have to wait for another wheel
	tied  bool          // another wheel has the same nearest deadline
}

// earliest returns the wheel to step next, if its nearest deadline is at target or before.
//
// The heap is ordered by aims, which may be too early: a wheel aims again when its earliest timer becomes earlier,
// but not when that timer is stopped. Therefore earliest requests the exact deadline of the first wheel, until the
// first wheel's aim is exact. No wheel is being stepped meanwhile.
func (m *Mock) earliest(target time.Duration) (due, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.alarms.Len() > 0 && m.alarms.First().at <= target {
		a := m.alarms.First()
		if !m.verify(a) {
			continue
		}
		if limit := m.ending.limit; a.order < limit || limit == 0 {
			limit, tied := m.stepLimit(a.at)
			return due{a.wheel, a.at, limit, tied}, true
		}
		break
	}
	return due{}, false
}

// verify makes a's aim exact, and reports whether it was exact before. It unlocks m.mu while
// it calls Nearest: wheels aim alarms under locks of their own, which Nearest takes.
func (m *Mock) verify(a *mockAlarm) bool {
	version := a.version
	m.mu.Unlock()
	at, order, ok := a.wheel.Nearest()
	m.mu.Lock()
	if !ok && a.version == version {
		m.alarms.Drop(a)
	}
	if !ok || a.version != version || a.at != at {
		return false
	}
	exact := a.order == order
	a.order = order
	m.alarms.Put(a)
	return exact
}

// stepLimit returns the limit for a Step of the first wheel in the heap. If the second alarm is aimed at the time at,
// too, the limit is the order of that alarm. Otherwise the limit is the next order to be given out, because the next
// timer may be set on another wheel. The limit is never above ending.limit. tied reports whether the second alarm is
// aimed at the time at.
func (m *Mock) stepLimit(at time.Duration) (limit uint64, tied bool) {
	limit = m.orders.Load() + 1
	if m.ending.limit > 0 {
		limit = min(limit, m.ending.limit)
	}
	for _, a := range m.alarms.All()[1:min(3, m.alarms.Len())] {
		if a.at == at {
			limit, tied = min(limit, a.order), true
		}
	}
	return limit, tied
}

// ending is the state of a move that has reached the end of time. Time stands still
// there: every timer that a callback sets is due at once, and a callback that sets its
// timer again would be called forever. Therefore timers are stepped in rounds. A round
// steps the timers that were set before it. After lastRounds the remaining timers wait for
// the next move.
type ending struct {
	limit  uint64 // timers whose order is limit or above wait for the next round; 0 before the end
	rounds int
}

const (
	endOfTime  = time.Duration(math.MaxInt64)
	lastRounds = 1000
)

// reach begins the first round when the clock is at the end of time.
func (e *ending) reach(m *Mock) {
	if e.limit == 0 && m.Elapsed() == endOfTime {
		e.limit = m.orders.Load() + 1
	}
}

// again begins another round if a timer was set in this one, up to lastRounds times. It reports whether it has begun
// one.
func (e *ending) again(m *Mock) bool {
	next := m.orders.Load() + 1
	if e.limit == 0 || e.limit == next || e.rounds == lastRounds {
		return false
	}
	e.limit = next
	e.rounds++
	return true
}
