package level

import "fmt"

// Check reports the first broken invariant of l, for tests. It walks all nodes.
func (l *Level) Check(a *Arena) error {
	for s := range Slots {
		if err := l.checkSlot(a, s); err != nil {
			return fmt.Errorf("slot %d: %w", s, err)
		}
	}
	return nil
}

func (l *Level) checkSlot(a *Arena, s int) error {
	q := l.slots[s]
	if l.Loose(s) && q.tail == 0 && l.occupied>>uint(s)&1 == 1 && !l.Sorted(s) {
		return nil
	}
	if occupied := l.occupied>>uint(s)&1 == 1; occupied != (q.n > 0) || occupied != (q.head != 0) {
		return fmt.Errorf("occupied=%v with %d nodes", occupied, q.n)
	}
	var count, prev uint32
	for i := q.head; i != 0; count++ {
		n := a.At(i)
		switch {
		case n.stamp == 0:
			return fmt.Errorf("node %d is free", i)
		case n.Slot() != s:
			return fmt.Errorf("node %d believes it is in slot %d", i, n.Slot())
		case n.prev != prev:
			return fmt.Errorf("node %d: prev is %d, not %d", i, n.prev, prev)
		case prev != 0 && l.Sorted(s) && n.Before(a.At(prev)):
			return fmt.Errorf("node %d is out of order in a sorted slot", i)
		}
		prev, i = i, n.next
	}
	if count != q.n || prev != q.tail {
		return fmt.Errorf("%d nodes ending in %d, not %d ending in %d", count, prev, q.n, q.tail)
	}
	return nil
}

// Check reports the first broken invariant of a, for tests.
func (a *Arena) Check() error {
	live, empty := 0, 0
	for c, m := range a.chunks {
		used := 0
		for _, n := range a.nodes[c] {
			if n.stamp != 0 {
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
		if used == 0 && a.nodes[c] != nil {
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
		want := a.nodes[c] != nil && m.used < chunkRoom
		if want != listed[uint32(c)] {
			return fmt.Errorf("chunk %d with %d nodes: in the partial list is %v", c, m.used, !want)
		}
	}
	return nil
}
