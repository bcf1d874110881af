package clock

import (
	"math"
	"time"
)

// Stepped is a wheel as a Mock sees it.
type Stepped interface {
	// Nearest is the exact earliest deadline and its place in the order of
	// setting; false if nothing is pending. Unless the wheel is being stepped,
	// its alarm is aimed exactly there, or stopped, when it returns.
	Nearest() (deadline time.Duration, order uint64, ok bool)
	// Step hands over the earliest timer, if it is due, and after it all others
	// that are due at the same deadline and whose order is below limit.
	Step(limit uint64)
	// Settle returns when every task handed to an executor has returned; it tells
	// whether there was any since the last Settle.
	Settle() bool
	// Len is the number of pending timers.
	Len() int
}

// move runs f, which may move the clock, as the only one that does.
func (m *Mock) move(method string, f func()) {
	if !m.turn.TryLock() {
		if n := m.number.Load(); n != atRest && insideCallback(int(n)) {
			panic("clock: Mock." + method + " called inside a callback of that mock")
		}
		m.turn.Lock()
	}
	defer m.turn.Unlock()
	n := takeNumber()
	defer returnNumber(n)
	m.number.Store(int32(n))
	defer m.number.Store(atRest)
	markCallback(n, f)
}

// runTo fires everything due up to target, moving the clock from deadline to
// deadline, and leaves it at target.
func (m *Mock) runTo(target time.Duration) {
	m.stepMu.Lock()
	defer m.stepMu.Unlock()
	m.catchSet()
	m.stepTo(target)
	m.moveTo(target)
	if m.companion.active.Load() {
		m.stepTo(target) // what the companion's callbacks have set
	}
}

// catchSet has every wheel aim where it should, if timers are just being set. One
// is pending, and seen by those who wait for it, a moment before it is aimed at.
func (m *Mock) catchSet() {
	if m.setting.Load() == 0 {
		return
	}
	for _, w := range m.everyone() {
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
				continue // callbacks may have set something earlier
			}
			if !ok && m.ending.again(m) {
				continue // callbacks have set something at the end of time
			}
			if !ok {
				return
			}
			if m.moveTo(next.at) {
				continue // callbacks of the embedded mock may have, too
			}
		}
		m.unsettled = append(m.unsettled, next.wheel)
		next.wheel.Step(next.limit)
	}
}

// moveTo moves elapsed time to at, the embedded mock with it; it tells whether
// there was an embedded mock to move.
func (m *Mock) moveTo(at time.Duration) bool {
	if at <= time.Duration(m.elapsed.Load()) && !m.companion.active.Load() || m.moveAlone(at) {
		return false
	}
	m.stepMu.Unlock() // catchUp may step wheels meanwhile
	m.follow(at)
	m.stepMu.Lock()
	if int64(at) <= m.elapsed.Load() {
		return false
	}
	m.elapsed.Store(int64(at))
	return true
}

// moveAlone moves elapsed time to at unless there is an embedded mock to move.
func (m *Mock) moveAlone(at time.Duration) bool {
	m.companion.mu.Lock()
	defer m.companion.mu.Unlock()
	if m.companion.active.Load() {
		return false
	}
	m.elapsed.Store(int64(at))
	return true
}

// settle waits for the callbacks of the deadline just passed and tells whether
// there were any.
func (m *Mock) settle() (waited bool) {
	for _, w := range m.unsettled {
		waited = w.Settle() || waited
	}
	clear(m.unsettled)
	m.unsettled = m.unsettled[:0]
	return waited
}

// due is who comes next, when, and the order at which another one comes in.
type due struct {
	wheel Stepped
	at    time.Duration
	limit uint64
}

// earliest is what comes next, at target or before.
//
// The heap is keyed by aims, which may be too early: a wheel aims again when
// its earliest timer becomes earlier, not when that is stopped. So whoever is
// on top is asked for its exact deadline until that is where it aims. Nobody is
// being stepped then.
func (m *Mock) earliest(target time.Duration) (due, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.alarms.Len() > 0 && m.alarms.First().at <= target {
		a := m.alarms.First()
		if !m.verify(a) {
			continue
		}
		if limit := m.ending.limit; a.order < limit || limit == 0 {
			return due{a.wheel, a.at, m.runnerUp(a.at)}, true
		}
		break
	}
	return due{}, false
}

// verify has a aimed exactly, and tells whether it was. It gives mu back
// meanwhile: wheels aim alarms under locks of their own, which Nearest takes.
func (m *Mock) verify(a *MockAlarm) bool {
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

// runnerUp is the order of the second in the heap, if it comes at that time, or
// that of whatever is set from now on: it may be set on another wheel.
func (m *Mock) runnerUp(at time.Duration) uint64 {
	limit := m.orders.Load() + 1
	if m.ending.limit > 0 {
		limit = min(limit, m.ending.limit)
	}
	for _, a := range m.alarms.All()[1:min(3, m.alarms.Len())] {
		if a.at == at {
			limit = min(limit, a.order)
		}
	}
	return limit
}

// ending is a move of the clock that has come to the end of time. There no delay
// passes any more: whatever a callback sets is due at once, and one that sets itself
// again would be called for ever. So timers are stepped in rounds, of those that were
// set before each round, and after lastRounds the rest waits for the next move.
type ending struct {
	limit  uint64 // timers of this order and above wait for the next round; 0 before the end
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

// again begins another round, if anything was set in this one.
func (e *ending) again(m *Mock) bool {
	next := m.orders.Load() + 1
	if e.limit == 0 || e.limit == next || e.rounds == lastRounds {
		return false
	}
	e.limit = next
	e.rounds++
	return true
}
