package member

import (
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func (m *model) count(n *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*n++
}

// check checks that no partition has two owners. It is called whenever that may have become so. A
// lease ends by time alone, so nothing else can happen between two calls.
func (m *model) check() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tally.checks++
	for partition := range m.partitions {
		owners := 0
		for _, p := range m.processes {
			if p.member != nil && p.member.Owns(partition) {
				owners++
			}
		}
		if owners > 1 {
			m.Errorf("%v: %d own partition %d", time.Since(m.begun), owners, partition)
		}
	}
}

// run lets faults happen for some time, then none.
func (m *model) run() {
	for range 40 {
		m.trouble(m.processes[m.r.IntN(len(m.processes))])
		time.Sleep(time.Duration(m.r.Int64N(int64(testLease))))
		m.check()
	}
	m.mu.Lock()
	m.calm = true
	m.mu.Unlock()
	for _, p := range m.processes {
		p.store.Cut(false)
		p.store.Hold(false)
		p.store.Pause(false)
	}
	time.Sleep(8 * testLease)
	synctest.Wait()
	m.isEven()
	for _, p := range m.processes {
		p.cancel()
	}
	m.wg.Wait()
	time.Sleep(3 * testLease) // what is late comes
}

// trouble does something to a process.
func (m *model) trouble(p *modelProcess) {
	on := m.r.IntN(2) == 0
	switch m.r.IntN(12) {
	case 0, 1, 2:
		p.store.Cut(on)
	case 3:
		p.store.Hold(on)
	case 4:
		p.store.Mute()
	case 5, 6:
		p.store.Pause(on)
	case 7, 8:
		m.mu.Lock()
		p.level = m.r.IntN(101)
		m.mu.Unlock()
	case 9: // it is killed, and another comes
		p.cancel()
		m.start()
	case 10: // the table is away
		for _, p := range m.processes {
			p.store.Cut(on)
		}
	case 11:
		m.table.Expire(3 * testLease)
	}
}

// isEven checks that all partitions are owned, and shared as planned.
func (m *model) isEven() {
	owned := make(map[ID]int)
	for partition := range m.partitions {
		owners := 0
		for _, p := range m.processes {
			if p.ctx.Err() == nil && p.member.Owns(partition) {
				owned[p.member.ID()]++
				owners++
			}
		}
		require.Equal(m, 1, owners, "partition %d", partition)
	}
	for _, p := range m.processes {
		if p.ctx.Err() == nil {
			v := p.member.View()
			require.Equal(m, v.Holders(), v.Plan(), "nothing moves any more")
			require.Contains(m, []int{m.partitions / len(v.Members), m.partitions/len(v.Members) + 1}, owned[v.ID])
		}
	}
}
