package level

import (
	"fmt"
	"slices"
)

// Check reports the first broken invariant of a, for tests.
func (a *Arena) Check() error {
	live, empty := 0, 0
	for c, m := range a.chunks {
		used := 0
		for _, n := range a.nodes[c] {
			if n.id != 0 {
				used++
			}
		}
		if a.hot != 0 && int(a.hot>>ChunkBits) == c {
			used++
			live--
		}
		if used != int(m.used) {
			return fmt.Errorf("chunk %d has %d live nodes, not %d", c, used, m.used)
		}
		if used == 0 && !a.isVacant(c) {
			empty++
		}
		live += used
	}
	if live != a.Len() || empty > 1 {
		return fmt.Errorf("%d live nodes, not %d; %d empty chunks", live, a.Len(), empty)
	}
	return a.checkPartial()
}

func (a *Arena) checkPartial() error {
	listed := make(map[uint32]bool)
	for c := a.partial; c != 0; c = a.chunks[c-1].next {
		listed[c-1] = true
	}
	for c, m := range a.chunks {
		want := !a.isVacant(c) && m.used < chunkRoom
		if want != listed[uint32(c)] {
			return fmt.Errorf("chunk %d with %d nodes: in the partial list is %v", c, m.used, !want)
		}
	}
	return nil
}

func (a *Arena) isVacant(c int) bool { return slices.Contains(a.vacant, uint32(c)) }
