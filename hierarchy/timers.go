package hierarchy

import "github.com/epicycle-go/epicycle/level"

// timers is the timers of one shard: circles, and what each timer is for. The
// two are kept apart, as the circles are not interested, and linking, sorting
// and moving timers then touch half the memory.
type timers[T any] struct {
	circles
	values store[T]
	shape  uint32 // of the arena, when values last had the same
}

// grow gives the values as much room as the arena has for nodes, after a new
// node i has changed its shape.
func (t *timers[T]) grow(i uint32) {
	t.shape = t.arena.Shape()
	t.values.grow(i, t.arena.ChunkLen(i))
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

// grow gives the chunk of index i room for so many values.
func (s *store[T]) grow(i uint32, room int) {
	c, _ := level.Place(i)
	for int(c) >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	grown := make([]T, room)
	copy(grown, s.chunks[c])
	s.chunks[c] = grown
}

// drop gives chunk c back, which holds no live value.
func (s *store[T]) drop(c uint32) { s.chunks[c] = nil }
