package partition

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// opDebounced makes some debounced calls of a key, together. Nothing is under way, so the key has a run of calls if its timer
// has no attempts, which the model does not know after the process has ended in one.
func (m *model) opDebounced(key string) {
	was := m.only(key)
	there, _, err := m.listed(key)
	if err != nil {
		m.True(m.died, "%v", err)
		return
	}
	now := m.mock.Elapsed()
	e := entry{debounced: true, since: now}
	if was != nil && !was.dead && was.debounced && there.Attempt == 0 {
		e.since = was.since
	}
	c := &core.Call{}
	for range 1 + m.rand.IntN(3) {
		m.values++
		quiet, longest := time.Duration(m.rand.IntN(3000))*time.Millisecond, time.Duration(1+m.rand.IntN(5000))*time.Millisecond
		e.value, e.due = fmt.Sprint("v", m.values), min(now+quiet, e.since+longest)
		c.Ops = append(c.Ops, core.Op{Kind: frame.Set, Key: []byte(key), Value: []byte(e.value), Quiet: quiet, Longest: longest})
	}
	err = m.p.Do(m.t.Context(), c)
	if err != nil {
		m.True(m.died, "%v", err)
	}
	m.maybe(key, err == nil, func(*entry) *entry { c := e; return &c })
	if err != nil {
		return
	}
	last := len(c.Ops) - 1
	m.True(c.Took[last])
	c.First.Number += uint64(last)
	c.Ops = c.Ops[last:]
	m.made(key, c, e.due)
}
