package hierarchy

import "math"

// merged takes timers out of detached shards, in order of deadline.
type merged[T any] struct{ from []*timers[T] }

// next removes and returns the value of the earliest timer; false if none is left.
func (m *merged[T]) next() (v T, ok bool) {
	best, bestAt, bestNode := -1, int64(0), uint32(0)
	for f := 0; f < len(m.from); {
		i, at := m.from[f].next(never, math.MaxInt)
		if i == 0 {
			m.from[f] = m.from[len(m.from)-1]
			m.from = m.from[:len(m.from)-1]
			continue
		}
		if best < 0 || at < bestAt {
			best, bestAt, bestNode = f, at, i
		}
		f++
	}
	if best < 0 {
		return v, false
	}
	t := m.from[best]
	v = *t.value(bestNode)
	t.circles.remove(bestNode, t.arena.At(bestNode)) // values go when all are passed
	return v, true
}
