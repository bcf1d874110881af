package clock

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	benbjohnson "github.com/benbjohnson/clock"

	"github.com/epicycle-go/epicycle/clock/internal/alarmheap"
)

// Mock is a clock for tests and simulations. It stands still until Add, Set or AddNext moves it. Timers of wheels on it
// fire only inside these calls, each exactly at its deadline. They fire in the order of their deadlines. Timers with
// equal deadlines fire in the order in which they were set, even across wheels. When the call returns, every callback
// that was due has returned, including those of timers that callbacks set on the way. The same calls give the same
// trace, and nothing ever sleeps.
//
// With an executor other than hierarchy.Inline, the callbacks of one deadline run concurrently and the clock waits for
// all of them before it moves on. Such a callback must not wait for a later time.
//
// For code that takes a github.com/benbjohnson/clock Clock there is Benbjohnson.
type Mock struct {
	// inner is the clock on which the timers of Benbjohnson are made. It does not move until the first of these timers
	// is made.
	inner *benbjohnson.Mock
	base  time.Time // immutable; the wall time at elapsed 0, in UTC

	moveMu  sync.Mutex    // held by the call that moves the clock
	number  atomic.Int32  // number of this mock among the mocks being moved, or atRest; see mark.go
	stepMu  sync.Mutex    // held while wheels are stepped, not while the benbjohnson mock moves
	elapsed atomic.Int64  // written with stepMu held
	jumped  atomic.Int64  // wall time is base + elapsed + jumped
	orders  atomic.Uint64 // the last order that was given out
	setting atomic.Int64  // number of timers that have an order but may not be aimed at yet

	mu        sync.Mutex
	alarms    alarmheap.Heap[*mockAlarm] // guarded by mu; the aimed alarms
	wheels    map[*mockAlarm]struct{}    // guarded by mu; the attached alarms
	onJump    []*mockAlarm               // guarded by mu; alarms with a function for jumps, in the order of OnJump
	changed   chan struct{}              // guarded by mu; nil, or closed at the next change
	waiting   atomic.Int32               // number of WaitFor and WaitNext calls
	unsettled []MockWheel                // guarded by stepMu; wheels that were stepped since the last settle
	ending    ending                     // guarded by stepMu

	companion companion
}

// NewMock returns a Mock whose wall time is the Unix epoch. Its times are always in
// UTC, whatever the machine's zone and the zone of the times passed to Set. A test of
// a Schedule therefore has the same outcome everywhere.
func NewMock() *Mock {
	inner := benbjohnson.NewMock() // stands at the epoch in the machine's zone until activate is called
	m := &Mock{inner: inner, base: inner.Now().UTC(), wheels: make(map[*mockAlarm]struct{}),
		alarms: alarmheap.New((*mockAlarm).before, (*mockAlarm).position)}
	m.number.Store(atRest)
	return m
}

// requireMade panics if m is a zero Mock.
func (m *Mock) requireMade() {
	if m.inner == nil {
		panic("clock: method called on a zero Mock: use NewMock")
	}
}

// String names the clock as a mock and gives its elapsed time.
func (m *Mock) String() string { return fmt.Sprintf("mock at %v", m.Elapsed()) }

// isMock makes IsMock recognize a Mock, even an embedded one.
func (*Mock) isMock() {}

// Elapsed returns how far the clock has moved since it was made, without jumps.
func (m *Mock) Elapsed() time.Duration {
	e := time.Duration(m.elapsed.Load())
	if m.companion.active.Load() {
		e = max(e, m.inner.Now().Sub(m.base))
	}
	return e
}

// Now returns the wall time in UTC. It starts at the Unix epoch, and moves with the clock
// and with jumps.
func (m *Mock) Now() time.Time {
	return m.base.Add(m.Elapsed()).Add(time.Duration(m.jumped.Load()))
}

// Since returns Now minus t.
func (m *Mock) Since(t time.Time) time.Duration { return m.Now().Sub(t) }

// Until returns t minus Now.
func (m *Mock) Until(t time.Time) time.Duration { return t.Sub(m.Now()) }

// Add moves the clock forward by d, step by step, and returns when all timers
// due on the way have fired. Add(0) fires the timers that are due now. A negative d
// is a Jump, after which the timers that are due now fire. Concurrent calls queue.
// Inside a callback of this mock Add panics, because it would wait for itself.
//
// At the end of time, 292 years, every timer that is set is due at once. If a callback
// keeps setting its timer again there, each Add calls it some thousand times.
func (m *Mock) Add(d time.Duration) {
	m.move("Add", func() {
		if d < 0 {
			m.Jump(d)
			d = 0
		}
		m.runTo(later(m.Elapsed(), d))
	})
}

// Set moves the clock to wall time t, as Add does. If t is earlier than Now, Set is a
// Jump back, after which the timers that are due now fire.
func (m *Mock) Set(t time.Time) {
	m.move("Set", func() {
		d := t.Sub(m.Now())
		if d < 0 {
			m.Jump(d)
			d = 0
		}
		m.runTo(later(m.Elapsed(), d))
	})
}

// Jump sets the wall clock forward or back by d, as an administrator or a time server would. Elapsed time does not
// change, so no timer fires and none is delayed. Alarms with OnJump are notified; see MockAlarm.
func (m *Mock) Jump(d time.Duration) {
	m.requireMade()
	m.jumped.Add(int64(d))
	m.tellJump()
}

// Next returns the time until the earliest deadline of all wheels and the earliest
// aim of other alarms. It returns false if nothing is pending. It may be called
// inside callbacks.
func (m *Mock) Next() (time.Duration, bool) {
	next, found := time.Duration(math.MaxInt64), false
	for _, w := range m.allStepped() {
		if at, _, ok := w.Nearest(); ok {
			next, found = min(next, at), true
		}
	}
	if !found {
		return 0, false
	}
	return max(0, next-m.Elapsed()), true
}

// allStepped returns all wheels, and all aimed alarms that belong to no wheel.
func (m *Mock) allStepped() []MockWheel {
	m.mu.Lock()
	defer m.mu.Unlock()
	wheels := make([]MockWheel, 0, m.alarms.Len()+len(m.wheels))
	for a := range m.wheels {
		wheels = append(wheels, a.wheel)
	}
	for _, a := range m.alarms.All() {
		if b, ok := a.wheel.(*bell); ok {
			wheels = append(wheels, b)
		}
	}
	return wheels
}

// AddNext moves the clock exactly to the earliest deadline, fires the timers that are
// due, and returns how far the clock moved. It returns false if nothing is pending.
func (m *Mock) AddNext() (d time.Duration, ok bool) {
	m.move("AddNext", func() {
		var next due
		m.aimWheels()
		if next, ok = m.earliest(math.MaxInt64); ok {
			d = max(0, next.at-m.Elapsed())
			m.runTo(later(m.Elapsed(), d))
		}
	})
	return d, ok
}

// later returns e + d, or the largest duration if that overflows.
func later(e, d time.Duration) time.Duration {
	if e+d < e {
		return math.MaxInt64
	}
	return e + d
}
