package hierarchy

import "github.com/epicycle-go/epicycle/level"

// timers is the timers of one shard: circles, and what each timer is for. The
// two are kept apart, as the circles are not interested, and linking, sorting
// and moving timers then touch half the memory.
type timers[T any] struct {
	circles
	values store[T]
}

// add sets a new timer.
func (t *timers[T]) add(now, deadline int64, sequence uint64, f level.Flags, v T) uint32 {
	i := t.circles.add(now, deadline, sequence, f)
	t.values.put(i, v)
	return i
}

// remove ends timer i, linked or held.
func (t *timers[T]) remove(i uint32, n *level.Node) {
	t.values.clear(i)
	if given := t.circles.remove(i, n); given != 0 {
		t.values.drop(given - 1)
	}
}

// value is what timer i is for.
func (t *timers[T]) value(i uint32) *T { return t.values.at(i) }

// len is the number of live timers, linked or held.
func (t *timers[T]) len() int {
	if t == nil {
		return 0
	}
	return t.arena.Len()
}

// flagged returns the values of the timers that have flag f.
func (t *timers[T]) flagged(f level.Flags) (values []T) {
	t.arena.Each(func(i uint32, n *level.Node) {
		if n.Flags()&f != 0 {
			values = append(values, *t.value(i))
		}
	})
	return values
}

// store keeps a value for each node of an arena, in chunks as the arena does.
type store[T any] struct{ chunks [][]T }

func (s *store[T]) at(i uint32) *T {
	c, e := level.Place(i)
	return &s.chunks[c][e]
}

func (s *store[T]) put(i uint32, v T) {
	c, e := level.Place(i)
	if int(c) >= len(s.chunks) || int(e) >= len(s.chunks[c]) {
		s.grow(c, e)
	}
	s.chunks[c][e] = v
}

func (s *store[T]) clear(i uint32) {
	var none T
	*s.at(i) = none
}

// grow makes room for entry e of chunk c. As in the arena, a first chunk starts
// small and doubles, all others have their full length at once.
func (s *store[T]) grow(c, e uint32) {
	for int(c) >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	size := level.ChunkLen
	if len(s.chunks) == 1 {
		size = min(size, max(16, powerOfTwo(int(e)+1)))
	}
	grown := make([]T, size)
	copy(grown, s.chunks[c])
	s.chunks[c] = grown
}

// drop gives chunk c back, which holds no live value.
func (s *store[T]) drop(c uint32) {
	if int(c) < len(s.chunks) {
		s.chunks[c] = nil
	}
}
