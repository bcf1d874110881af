package hierarchy

import (
	"reflect"

	"github.com/epicycle-go/epicycle/level"
)

// timers is the timers of one shard: circles, and what each timer is for. The
// two are kept apart, as the circles are not interested, and linking, sorting
// and moving timers then touch half the memory.
type timers[T any] struct {
	circles
	values store[T]
	shape  uint32 // of the arena, when values last had room for all it has
}

// makeRoom is called when a new timer i has changed the arena's shape, and at
// any time does no harm.
func (t *timers[T]) makeRoom(i uint32) {
	t.values.grow(i, t.arena.ChunkLen(i))
	if t.values.likeArena() {
		t.shape = t.arena.Shape()
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

// store keeps a value for each node of an arena, in chunks as the arena does, or
// in smaller ones, for large values: no call should have to clear megabytes.
type store[T any] struct {
	chunks [][]T
	bits   uint8 // a chunk holds 1<<bits values; not more than level.ChunkBits
}

// largestChunk is how many bytes a chunk of values may have, if it has several.
const largestChunk = 128 << 10

func newStore[T any]() store[T] {
	s := store[T]{bits: level.ChunkBits}
	for size := reflect.TypeFor[T]().Size(); s.bits > 0 && size<<s.bits > largestChunk; {
		s.bits--
	}
	return s
}

// likeArena tells whether chunks are those of the arena.
func (s *store[T]) likeArena() bool { return s.bits == level.ChunkBits }

func (s *store[T]) at(i uint32) *T {
	return &s.chunks[i>>(s.bits&31)][i&(1<<(s.bits&31)-1)]
}

// grow makes room for value i, where the arena's chunk has room for so many.
func (s *store[T]) grow(i uint32, room int) {
	c := int(i >> s.bits)
	for c >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	room = min(room, 1<<s.bits)
	if len(s.chunks[c]) < room {
		grown := make([]T, room)
		copy(grown, s.chunks[c])
		s.chunks[c] = grown
	}
}

// drop gives back the values of chunk c of the arena, none of which is live.
func (s *store[T]) drop(c uint32) {
	perChunk := 1 << (level.ChunkBits - s.bits)
	from := min(int(c)*perChunk, len(s.chunks))
	clear(s.chunks[from:min(from+perChunk, len(s.chunks))])
}
