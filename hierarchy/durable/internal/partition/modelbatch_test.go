package partition

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// opBatch removes and revives several keys in one call. The call is committed for all of them or for none.
func (m *model) opBatch() {
	c, want, removed := &core.Call{}, []bool{}, []string{}
	for _, i := range m.rand.Perm(12)[:2+m.rand.IntN(3)] {
		a := core.Op{Kind: frame.Remove, Key: fmt.Append(nil, i)}
		was := m.only(string(a.Key))
		can := was != nil
		if m.rand.IntN(2) == 0 {
			a.Kind, can = frame.Revive, can && was.dead
		} else if can {
			removed = append(removed, was.value)
		}
		c.Ops, want = append(c.Ops, a), append(want, can)
	}
	err := m.p.Do(m.t.Context(), c)
	if err == nil {
		m.Equal(want, c.Took)
		m.Equal(removed, append([]string{}, c.Values...))
	} else {
		m.True(m.died, "%v", err)
	}
	for i, a := range c.Ops {
		switch {
		case a.Kind == frame.Remove:
			m.maybe(string(a.Key), err == nil, func(*entry) *entry { return nil })
		case want[i]:
			m.maybe(string(a.Key), err == nil, func(e *entry) *entry { return &entry{value: e.value, due: m.mock.Elapsed()} })
		}
	}
}
