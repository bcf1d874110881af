package timers

import (
	"reflect"

	"github.com/epicycle-go/epicycle/level/arena"
)

// values keeps a value for each node of an arena, in chunks like the arena's, or in smaller ones for large values: no
// call should have to clear megabytes.
type values[T any] struct {
	// Invariant: each timer has a value here. The values of nodes that were freed are zero, so they keep nothing alive.
	// Only where all timers were taken out at once they are left, as the whole of it is dropped.
	chunks [][]T
	bits   uint8 // a chunk holds 1<<bits values; at most arena.ChunkBits
	small  bool  // values are worth touching
}

const (
	// largestChunk is the most bytes that a chunk of several values may have.
	largestChunk = 128 << 10
	// largestTouched is the size of the largest values that touch reads.
	largestTouched = 128
)

func newValues[T any]() values[T] {
	size := reflect.TypeFor[T]().Size()
	s := values[T]{bits: arena.ChunkBits, small: size <= largestTouched}
	for s.bits > 0 && size<<s.bits > largestChunk {
		s.bits--
	}
	return s
}

// likeArena reports whether chunks are as large as the chunks of the arena.
func (s *values[T]) likeArena() bool { return s.bits == arena.ChunkBits }

func (s *values[T]) at(i uint32) *T {
	return &s.chunks[i>>(s.bits&31)][i&(1<<(s.bits&31)-1)]
}

// touch reads values, if they are small. Reading large values would save nothing. There are so few instructions between
// two reads that the processor waits for all of them at once.
func (s *values[T]) touch(values []uint32) {
	if !s.small {
		return
	}
	for _, i := range values {
		read(*s.at(i))
	}
}

// read is not inlined, as the compiler would leave out what it does not need.
//
//go:noinline
func read[T any](T) {}

// grow makes room for value i, whose chunk of the arena has room for room nodes.
func (s *values[T]) grow(i uint32, room int) {
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

// drop releases the values of chunk c of the arena, none of which is live.
func (s *values[T]) drop(c uint32) {
	perChunk := 1 << (arena.ChunkBits - s.bits)
	from := min(int(c)*perChunk, len(s.chunks))
	clear(s.chunks[from:min(from+perChunk, len(s.chunks))])
}
