package clock

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	benbjohnson "github.com/benbjohnson/clock"

	"github.com/epicycle-go/epicycle/clock/internal/alarmheap"
)

// Mock is a clock that stands still until Add, Set or AddNext moves it, for
// tests and simulations. Timers of wheels on it fire inside these calls and
// nowhere else, each exactly at its deadline, in the order of their deadlines
// and, where those are equal, in the order in which they were set, whatever
// wheel they are on. When the call returns, every callback that was due has
// returned, those of timers set by callbacks on the way included. The same
// calls give the same trace, and nothing ever sleeps.
//
// With an executor other than hierarchy.Inline, the callbacks of one deadline
// run concurrently and the clock waits for all of them before it goes on. Such
// a callback must not wait for a later time.
//
// Mock is also a github.com/benbjohnson/clock Clock: what is made by its
// methods of that package (Timer, Ticker, After, AfterFunc, Sleep, Tick,
// WithTimeout, WithDeadline) fires too, at its time, with that package's
// guarantees: in goroutines of their own, one real millisecond a step, and with
// times on their channels that know nothing of jumps. Timers of wheels that
// their callbacks set fire as soon as the clock notices, at or after their
// deadline. The price is paid from the first such call on, and by none who makes
// none.
type Mock struct {
	*benbjohnson.Mock
	base time.Time // immutable; the wall time at elapsed 0, in UTC

	turn    sync.Mutex   // held by the one call that moves the clock
	number  atomic.Int32 // among the mocks that are being moved, or atRest; see mark
	stepMu  sync.Mutex   // held while wheels are stepped, not while the embedded mock moves
	elapsed atomic.Int64 // written with stepMu held
	jumped  atomic.Int64 // wall time is base + elapsed + jumped
	orders  atomic.Uint64
	setting atomic.Int64 // how many timers have an order and may not be aimed at yet

	mu        sync.Mutex
	alarms    alarmheap.Heap[*MockAlarm] // guarded by mu; those that have an aim
	wheels    map[*MockAlarm]struct{}    // guarded by mu; those that Attach was called on
	changed   chan struct{}              // guarded by mu; nil, or closed at the next set
	waiting   atomic.Int32               // how many wait for changed
	unsettled []Stepped                  // guarded by stepMu; stepped since the last settle
	ending    ending                     // guarded by stepMu

	companion companion
}

// NewMock returns a Mock whose wall time is the Unix epoch. Its times are UTC's,
// whatever the machine's zone, and stay so whatever is given to Set: a test of a
// Schedule has the same outcome everywhere.
func NewMock() *Mock {
	inner := benbjohnson.NewMock() // at the epoch in the machine's zone, until activate
	m := &Mock{Mock: inner, base: inner.Now().UTC(), wheels: make(map[*MockAlarm]struct{}),
		alarms: alarmheap.New((*MockAlarm).before, (*MockAlarm).position)}
	m.number.Store(atRest)
	return m
}

// String says how far the clock was moved.
func (m *Mock) String() string { return fmt.Sprintf("mock at %v", m.Elapsed()) }

// isMock is found by IsMock, also where a Mock is embedded.
func (*Mock) isMock() {}

// Elapsed is how far the clock was moved since it was made. Jumps don't count.
func (m *Mock) Elapsed() time.Duration {
	e := time.Duration(m.elapsed.Load())
	if m.companion.active.Load() {
		e = max(e, m.Mock.Now().Sub(m.base))
	}
	return e
}

// Now is the wall time, in UTC: that of NewMock, moved by Add and by Jump.
func (m *Mock) Now() time.Time {
	return m.base.Add(m.Elapsed()).Add(time.Duration(m.jumped.Load()))
}

// Since is Now less t.
func (m *Mock) Since(t time.Time) time.Duration { return m.Now().Sub(t) }

// Until is t less Now.
func (m *Mock) Until(t time.Time) time.Duration { return t.Sub(m.Now()) }

// Add moves the clock forward by d, step by step, and returns when all timers
// due on the way have fired. Add(0) fires what is due now. A negative d is a
// Jump, after which what is due now fires. Concurrent calls queue; inside a
// callback of this mock Add panics, as it would wait for itself.
//
// At the end of time, 292 years, whatever is set is due at once. A callback that keeps
// setting itself there is called some thousand times by each Add.
func (m *Mock) Add(d time.Duration) {
	m.move("Add", func() {
		if d < 0 {
			m.Jump(d)
			d = 0
		}
		m.runTo(later(m.Elapsed(), d))
	})
}

// Set moves the wall time to t as Add does. If t is earlier than Now it is a
// Jump back, after which what is due now fires.
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

// Jump sets the wall clock forward or back by d, as an administrator or a time
// server would. Elapsed time stays, so no timer fires and none is delayed.
func (m *Mock) Jump(d time.Duration) { m.jumped.Add(int64(d)) }

// Next is how far away the earliest deadline of all wheels (and the earliest
// aim of other alarms) is. It is false if nothing is pending. It may be called
// inside callbacks.
func (m *Mock) Next() (time.Duration, bool) {
	next, found := time.Duration(math.MaxInt64), false
	for _, w := range m.everyone() {
		if at, _, ok := w.Nearest(); ok {
			next, found = min(next, at), true
		}
	}
	if !found {
		return 0, false
	}
	return max(0, next-m.Elapsed()), true
}

// everyone is all wheels, and all other alarms that are aimed.
func (m *Mock) everyone() []Stepped {
	m.mu.Lock()
	defer m.mu.Unlock()
	wheels := make([]Stepped, 0, m.alarms.Len()+len(m.wheels))
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

// AddNext moves the clock exactly to the earliest deadline, fires what is due,
// and returns how far it went. It is false if nothing is pending.
func (m *Mock) AddNext() (d time.Duration, ok bool) {
	m.move("AddNext", func() {
		var next due
		m.catchSet()
		if next, ok = m.earliest(math.MaxInt64); ok {
			d = max(0, next.at-m.Elapsed())
			m.runTo(later(m.Elapsed(), d))
		}
	})
	return d, ok
}

// WaitFor waits until at least n timers are pending on the wheels of this
// clock, or returns ctx's error. It is for code under test that sets its timers
// in goroutines: wait for them, then Add.
func (m *Mock) WaitFor(ctx context.Context, n int) error {
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	for {
		m.mu.Lock()
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		changed := m.changed
		m.mu.Unlock()
		if m.pending() >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pending is the number of timers on all wheels.
func (m *Mock) pending() int {
	n := 0
	for _, w := range m.everyone() {
		n += w.Len()
	}
	return n
}

// later is e + d, saturating.
func later(e, d time.Duration) time.Duration {
	if e+d < e {
		return math.MaxInt64
	}
	return e + d
}
