package tests

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const keys = 12

// do carries out a step and returns what the caller of the wheel would see.
func (m *model) do(s step) string {
	switch s.do {
	case set, setAgain, setAt, every:
		return m.set(s)
	case stop, reset, remaining:
		return m.handle(s)
	case move, remove, get, drain:
		return m.named(s)
	case add, addMore, setTime:
		d := m.stride(s.d)
		if d < 0 {
			m.jumped += d
		}
		m.moveTo(m.after(d))
	case addNext:
		if x := m.next(); x != nil {
			d := max(0, x.deadline-m.now)
			m.moveTo(m.now + d)
			return fmt.Sprint(d, true)
		}
		return fmt.Sprint(time.Duration(0), false)
	case jump:
		m.jumped += s.d % (1 << 40)
	case stopWheel:
		m.closed[s.wheel] = true
		for _, x := range m.sorted() {
			if x.wheel == s.wheel {
				m.take(x)
			}
		}
		m.endAll(s.wheel)
	}
	return ""
}

func (m *model) set(s step) string {
	if m.keyed {
		return m.setKey(s)
	}
	d := s.d
	if s.do == every && d <= 0 {
		return hierarchy.ErrArgument.Error()
	}
	if err := m.admit(s.wheel); err != nil {
		return err.Error()
	}
	m.ids++
	m.scheduled[s.wheel]++
	x := &modelTimer{id: m.ids, wheel: s.wheel, then: s.then, start: m.now}
	if s.do == every {
		x.period = d
		m.begin(x.id, x.wheel, d)
		m.repeaters[x.id] = x
	}
	m.place(x, m.after(d))
	m.pending = append(m.pending, x)
	return fmt.Sprint("set ", x.id)
}

func (m *model) admit(wheel int) error {
	switch {
	case m.closed[wheel]:
		return hierarchy.ErrClosed
	case m.len(wheel) >= m.limit[wheel]:
		return hierarchy.ErrFull
	}
	return nil
}

// handle carries out a step on a Timer or Repeater that was set before.
func (m *model) handle(s step) string {
	if m.keyed || m.ids == 0 {
		return ""
	}
	id := 1 + s.target%m.ids
	if m.repeaters[id] != nil {
		return m.repeat(s, id, func() bool { return m.stopRepeater(id) }, func(d time.Duration) bool { return m.resetRepeater(id, d) })
	}
	x := m.byID(id)
	switch {
	case x == nil:
		return "gone"
	case s.do == stop:
		m.take(x)
	case s.do == reset:
		m.moved[x.wheel]++
		m.place(x, m.after(s.d))
	default:
		return fmt.Sprint(max(0, x.deadline-m.now))
	}
	return "true"
}

func (m *model) take(x *modelTimer) {
	m.drop(x)
	m.taken[x.wheel]++
}

func (m *model) stopRepeater(id int) bool {
	x := m.byID(id)
	if x != nil {
		m.take(x)
	}
	return x != nil
}

func (m *model) resetRepeater(id int, d time.Duration) bool {
	x := m.byID(id)
	if x == nil || d <= 0 || m.now == forever { // when no time is left for a next run
		return false
	}
	x.period, x.start = d, m.now
	if x != m.held {
		m.place(x, m.after(d))
	}
	return true
}

func (m *model) key(s step) *modelTimer {
	return m.find(func(x *modelTimer) bool { return x.wheel == s.wheel && x.key == s.target%keys })
}

func (m *model) setKey(s step) string {
	x := m.key(s)
	if x == nil {
		if err := m.admit(s.wheel); err != nil {
			return err.Error()
		}
		m.scheduled[s.wheel]++
		x = &modelTimer{wheel: s.wheel, key: s.target % keys}
		m.pending = append(m.pending, x)
	} else {
		m.moved[s.wheel]++
	}
	old := x.id
	m.ids++
	x.id, x.then = m.ids, s.then
	m.place(x, m.after(s.d))
	return fmt.Sprint("swapped ", old)
}

// named carries out a step on a key.
func (m *model) named(s step) string {
	if !m.keyed {
		return ""
	}
	if s.do == drain {
		return m.drainAll(s)
	}
	x := m.key(s)
	switch {
	case x == nil && s.do == move && m.closed[s.wheel]:
		return fmt.Sprint(false, hierarchy.ErrClosed)
	case x == nil:
		return "no such key"
	case s.do == remove:
		m.take(x)
	case s.do == move:
		m.moved[s.wheel]++
		m.place(x, m.after(s.d))
	}
	return fmt.Sprint(x.id, max(0, x.deadline-m.now))
}

func (m *model) drainAll(s step) (drained string) {
	if s.target%4 > 0 {
		return ""
	}
	for _, x := range m.sorted() {
		if x.wheel == s.wheel {
			m.take(x)
			drained += fmt.Sprint(x.id, " ")
		}
	}
	return drained
}
