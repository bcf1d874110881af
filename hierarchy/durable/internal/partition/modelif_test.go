package partition

import (
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// opSetIf sets a key under a condition. Nothing is under way, so a timer with attempts waits for its next one.
func (m *model) opSetIf(key string) {
	m.values++
	d := time.Duration(m.rand.IntN(4000)) * time.Millisecond
	e := entry{value: fmt.Sprint("v", m.values), due: m.mock.Elapsed() + d}
	was := m.only(key)
	_, remaining, _, err := m.p.Get([]byte(key)) // the model knows no more than due of a timer that has had attempts
	if err != nil {
		m.True(m.died, "%v", err)
		return
	}
	next := m.mock.Elapsed() + remaining
	a := core.Op{Kind: frame.Set, Whole: true, If: core.IfAbsent + core.Condition(m.rand.IntN(int(core.Conditions-core.IfAbsent))), Key: []byte(key), Value: []byte(e.value), In: d}
	if m.rand.IntN(3) == 0 {
		a.Kind, a.Due = frame.SetAt, m.mock.Now().Add(d).UnixNano()
	}
	there, _, err := m.listed(key)
	if err != nil {
		m.True(m.died, "%v", err)
		return
	}
	want := was == nil || was.dead
	if !want {
		want = a.If == core.IfSooner && e.due < next || a.If == core.IfLater && e.due > next
	}
	c := m.asked(a)
	if c != nil {
		m.Equal(want, c.Took[0], "%v for %v", a, next)
		if want {
			m.made(key, c, e.due)
		} else {
			got, _ := core.Was(c.Values[0])
			m.Equal(there, got)
		}
	}
	if want {
		m.maybe(key, c != nil, func(*entry) *entry { c := e; return &c })
	}
}

// opWhole removes a key, or swaps its timer, and gets the timer that was there.
func (m *model) opWhole(key string) {
	was := m.only(key)
	c := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Whole: true, Key: []byte(key)}}}
	now := (*entry)(nil)
	if m.rand.IntN(2) == 0 {
		m.values++
		now = &entry{value: fmt.Sprint("v", m.values), due: m.mock.Elapsed() + time.Second}
		c.Ops[0] = core.Op{Kind: frame.Set, Whole: true, Key: []byte(key), Value: []byte(now.value), In: time.Second}
	}
	want, listed, err := m.listed(key)
	if err != nil {
		m.True(m.died, "%v", err)
		return
	}
	if listed && want.Dead && now != nil {
		listed = false
	}
	err = m.p.Do(m.t.Context(), c)
	if err == nil {
		m.Equal(was != nil || now != nil, c.Took[0])
		if c.Took[0] {
			got, ok := core.Was(c.Values[0])
			m.Equal(listed, ok)
			if ok {
				m.Equal(want, got)
				m.True(was.is(got))
				m.Equal(was.dead, got.Dead)
			}
		}
	} else {
		m.True(m.died, "%v", err)
	}
	m.maybe(key, err == nil, func(*entry) *entry {
		if now == nil {
			return nil
		}
		c := *now
		return &c
	})
}

// listed returns the timer of a key, without it, as All lists it.
func (m *model) listed(key string) (t state.Timer, ok bool, err error) {
	for _, dead := range []bool{false, true} {
		err = errors.Join(err, m.p.All(dead, func(other state.Timer) bool {
			if other.Key == key {
				t, ok = other, true
			}
			return true
		}))
	}
	t.Key, t.Home = "", 0
	return t, ok, err
}
