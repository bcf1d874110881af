package arena

import (
	"fmt"
	"slices"
)

// Check reports the first broken invariant of a, for tests.
func (a *Arena) Check() error {
	live, sum, empty := 0, 0, 0
	for c, m := range a.chunks {
		used := 0
		for _, n := range a.nodes[c] {
			if n.id != 0 {
				used++
			}
		}
		live += used
		if a.hot != 0 && int(a.hot>>ChunkBits) == c {
			used++
		}
		sum += used
		if used == 0 && !a.isVacant(uint32(c)) {
			empty++
		}
		if err := a.checkChunk(uint32(c), m, used); err != nil {
			return fmt.Errorf("chunk %d with %d live nodes: %w", c, used, err)
		}
	}
	if live != a.Len() || sum != a.used {
		return fmt.Errorf("%d live nodes, not %d; %d used, not %d", live, a.Len(), sum, a.used)
	}
	if empty != a.empty || empty > spareChunks {
		return fmt.Errorf("%d empty chunks, not %d", empty, a.empty)
	}
	return a.checkPartial()
}

// checkChunk checks m, which is chunk c, and has used nodes in use.
func (a *Arena) checkChunk(c uint32, m chunk, used int) error {
	if used != int(m.used) {
		return fmt.Errorf("used is %d", m.used)
	}
	if a.isVacant(c) {
		if nodes := a.nodes[c]; &nodes[0] != &vacantNodes[0] || slices.ContainsFunc(nodes, func(n Node) bool { return n != Node{rest: Unlinked << circleShift} }) {
			return fmt.Errorf("it was freed, and has nodes")
		}
		return nil
	}
	free := 0
	for e := m.free; e != 0 && free < chunkLen; e = uint32(a.nodes[c][e].Key) {
		free++
	}
	if used+free != int(m.fresh)-1 {
		return fmt.Errorf("%d were freed, of %d", free, m.fresh-1)
	}
	return nil
}

func (a *Arena) checkPartial() error {
	listed := make(map[uint32]bool)
	for c := a.partial; c != 0; c = a.chunks[c-1].next {
		listed[c-1] = true
	}
	for c, m := range a.chunks {
		want := !a.isVacant(uint32(c)) && m.used < chunkRoom
		if want != listed[uint32(c)] {
			return fmt.Errorf("chunk %d with %d nodes: in the partial list is %v", c, m.used, !want)
		}
	}
	return nil
}

func (a *Arena) isVacant(c uint32) bool { return slices.Contains(a.vacant, c) }

// Check reports the first broken invariant of c, for tests.
func (c *Chain) Check() error {
	first := len(c.tail)
	if len(c.full) > 0 {
		first = BlockLen
		if len(c.tail) == 0 || cap(c.tail) != BlockLen {
			return fmt.Errorf("a tail of %d, room %d, behind %d blocks", len(c.tail), cap(c.tail), len(c.full))
		}
	}
	if c.taken < 0 || c.taken > 0 && c.taken >= first {
		return fmt.Errorf("%d taken of %d", c.taken, first)
	}
	return nil
}
