package partition

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// pass moves the clock. What is due is handled and its result in the log when it returns, unless
// the process has died.
func (m *model) pass(d time.Duration) {
	m.mock.Add(d)
	if !m.died {
		m.compare()
	}
}

// compare finds each key in a state that is possible, which is the only one from now on.
func (m *model) compare() {
	if m.died {
		return
	}
	live, dead := m.timers(false), m.timers(true)
	n, err := m.p.Len()
	m.NoError(err)
	m.Len(live, n)
	for key, es := range m.keys {
		v, isLive := live[key]
		w, isDead := dead[key]
		m.False(isLive && isDead)
		i := slices.IndexFunc(es, func(e *entry) bool {
			switch {
			case e == nil:
				return !isLive && !isDead
			case isDead: // an attempt that killed the process was the last
				return e.is(w) && (e.dead || m.opens > 1)
			}
			return isLive && !e.dead && e.is(v)
		})
		m.GreaterOrEqual(i, 0, "key %s is %v %v, dead %v; possible: %v", key, v, w, isDead, describe(es))
		e := es[i]
		if e != nil {
			e.dead = isDead
		}
		m.keys[key] = []*entry{e}
	}
	for key := range live {
		m.Contains(m.keys, key)
	}
	if m.rand.IntN(3) == 0 {
		m.compareGet()
	}
}

// compareGet finds that Get says the same.
func (m *model) compareGet() {
	for key, es := range m.keys {
		v, _ := m.get(key)
		if e := es[0]; e == nil || e.dead {
			m.Equal("-", v)
		} else {
			m.Equal(e.value, v)
		}
	}
}

// is reports whether e is that timer.
func (e *entry) is(t state.Timer) bool {
	return e.value == t.Value && e.due == time.Duration(t.Due) &&
		(!t.Debounced || e.debounced && e.since == time.Duration(t.Since)) &&
		(t.Attempt > 0 || t.Dead || t.Debounced == e.debounced)
}

// timers are those that are dead, or are not. The owner's time, the wall time and the mock's
// elapsed time are one and the same here.
func (m *model) timers(dead bool) map[string]state.Timer {
	timers := make(map[string]state.Timer)
	m.NoError(m.p.All(dead, func(t state.Timer) bool {
		m.NotContains(timers, t.Key)
		timers[t.Key] = t
		return true
	}))
	return timers
}

func describe(es []*entry) (s []string) {
	for _, e := range es {
		if e == nil {
			s = append(s, "none")
		} else {
			s = append(s, fmt.Sprintf("%+v", *e))
		}
	}
	return s
}

// finish handles all that is left.
func (m *model) finish() {
	m.log.SetFault(nil)
	m.handle = nil
	m.mock.Add(time.Hour)
	require.Empty(m.t, m.bench.keys(false))
	m.shut()
}

// maybe is what a key may be after an operation that turns each old possibility into a new one.
// Unless it was acknowledged, the old ones are possible too.
func (m *model) maybe(key string, sure bool, f func(*entry) *entry) {
	var now []*entry
	for _, e := range m.possible(key) {
		now = append(now, f(e))
		if !sure {
			now = append(now, e)
		}
	}
	m.keys[key] = now
}

func (m *model) possible(key string) []*entry {
	if es, ok := m.keys[key]; ok {
		return es
	}
	return []*entry{nil}
}

// only is the one possibility of a key.
func (m *model) only(key string) *entry {
	es := m.possible(key)
	m.Len(es, 1, key)
	return es[0]
}
