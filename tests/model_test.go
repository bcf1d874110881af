package tests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// modelTimer is a timer of the model, or a Repeater.
type modelTimer struct {
	id, wheel, key  int
	deadline, start time.Duration
	order           int
	period          time.Duration
	then            *step
}

// model is the reference implementation: an unsorted list of timers.
type model struct {
	*book
	keyed          bool
	limit          [2]int
	now, jumped    time.Duration
	orders, ids    int
	pending        []*modelTimer
	held           *modelTimer // the Repeater whose function runs
	repeaters      map[int]*modelTimer
	closed         [2]bool
	scheduled, ran [2]int
	moved, taken   [2]int
	panics         [2]int
}

func newModel(keyed bool, limit [2]int) *model {
	m := &model{book: newBook(), keyed: keyed, limit: limit, repeaters: map[int]*modelTimer{}}
	m.book.world = m
	return m
}

func (m *model) after(d time.Duration) time.Duration {
	if d > forever-m.now {
		return forever
	}
	return m.now + max(0, d)
}

func (m *model) find(match func(*modelTimer) bool) *modelTimer {
	for _, x := range m.pending {
		if match(x) {
			return x
		}
	}
	return nil
}

func (m *model) byID(id int) *modelTimer {
	return m.find(func(x *modelTimer) bool { return x.id == id })
}

func (m *model) drop(x *modelTimer) {
	m.pending = slices.DeleteFunc(m.pending, func(y *modelTimer) bool { return x == y })
}

func (m *model) place(x *modelTimer, deadline time.Duration) {
	m.orders++
	x.deadline, x.order = deadline, m.orders
}

func (m *model) len(wheel int) (n int) {
	for _, x := range m.pending {
		if x.wheel == wheel {
			n++
		}
	}
	return n
}

func (m *model) sorted() []*modelTimer {
	return slices.SortedFunc(slices.Values(m.pending), inOrder)
}

func inOrder(x, y *modelTimer) int {
	return cmp.Or(cmp.Compare(x.deadline, y.deadline), cmp.Compare(x.order, y.order))
}

func (m *model) next() *modelTimer {
	if len(m.pending) == 0 {
		return nil
	}
	return slices.MinFunc(m.pending, inOrder)
}

// moveTo moves time and fires the timers that fall due on the way.
func (m *model) moveTo(target time.Duration) {
	for {
		due := m.next()
		if due == nil || due.deadline > target {
			break
		}
		m.now = max(m.now, due.deadline)
		m.fire(due)
	}
	m.now = target
}

func (m *model) fire(x *modelTimer) {
	m.scheduled[x.wheel]++ // each run of a Repeater counts
	m.ran[x.wheel]++
	if x.period == 0 {
		m.scheduled[x.wheel]--
		m.drop(x)
	} else {
		m.held = x
	}
	m.note("%d of wheel %d fires at %d", x.id, x.wheel, m.now)
	bad := x.then != nil && x.then.do == misbehave
	if x.then != nil && !bad {
		m.note("inside: %s", m.do(*x.then))
	}
	m.held = nil
	if x.period > 0 && m.byID(x.id) != nil {
		m.rearm(x)
	}
	if bad {
		m.panics[x.wheel]++
		m.note("panic")
	}
}

// rearm sets a Repeater to the next whole multiple of its period.
func (m *model) rearm(x *modelTimer) {
	if m.now == forever { // no time is left for a next run
		m.take(x)
		return
	}
	m.place(x, m.after(x.period-(m.now-x.start)%x.period))
}

func (m *model) state() string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %d, wall %d", m.now, m.jumped)
	for w := range 2 {
		fmt.Fprintf(&b, "; %d pending, %d set, %d fired, %d moved, %d taken, %d panics",
			m.len(w), m.scheduled[w], m.ran[w], m.moved[w], m.taken[w], m.panics[w])
	}
	if x := m.next(); x != nil {
		return b.String() + fmt.Sprintf("; next in %d", max(0, x.deadline-m.now))
	}
	return b.String() + "; nothing next"
}

func wheelWorlds(t *testing.T, b []byte) (model, real *book) {
	limit := limits(b)
	return newModel(false, limit).book, newRealWheels(t, b, limit).book
}

func keyedWorlds(t *testing.T, b []byte) (model, real *book) {
	limit := limits(b)
	return newModel(true, limit).book, newRealKeyed(t, b, limit).book
}

func limits(b []byte) (limit [2]int) {
	x := &decoder{b}
	return [2]int{1 << 30, 3 + x.byte()%20}
}

// configs returns the configurations of the two wheels.
func configs(b []byte, cfg hierarchy.Config, limit [2]int) (both [2]hierarchy.Config) {
	x := &decoder{b}
	for i := range both {
		both[i] = cfg
		both[i].Precision = []time.Duration{1, time.Microsecond, time.Millisecond, time.Hour}[x.byte()%4]
		if x.byte()%2 == 0 {
			both[i].Interval = max(both[i].Precision, time.Duration(1)<<(x.byte()%40))
		}
		both[i].Shards, both[i].MaxPending = x.byte()%8, limit[i]
	}
	return both
}
