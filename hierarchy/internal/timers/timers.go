// Package timers is the timing wheel of package circles with a value of any type for each timer. Like circles it has no
// lock, no clock and no goroutine.
//
// Deadlines and values are kept apart, under the same index. Circles don't use values, so linking, sorting and moving
// timers touch half the memory, and the garbage collector need not scan nodes, which have no pointers.
package timers

import (
	"reflect"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/level/arena"
)

// Timers is circles and a value for each node. New makes one.
type Timers[T any] struct {
	circles.Circles
	values values[T]
	shape  uint32 // shape of the arena when values last had room for all its nodes
}

// New makes an empty Timers, with the hand at the time hand.
func New[T any](layout circles.Layout, tuning circles.Tuning, hand int64) *Timers[T] {
	t := &Timers[T]{values: newValues[T]()}
	t.Init(layout, tuning, hand)
	return t
}

// A new timer is made by Add, then by MakeRoom if Grown reports true, and then its Value is set. A timer is ended by
// Clear and then by Remove, whose result is passed to Release unless it is Nothing. These are several calls so that the
// compiler can inline the short ones: setting and stopping a timer must be fast.

// Grown reports whether Add has just made the arena grow, or values have room for only a part of the arena's nodes.
func (t *Timers[T]) Grown() bool { return t.shape != t.Arena().Shape() }

// MakeRoom makes room for the value of timer i, if there is none. If chunks of values are smaller than the arena's,
// they are made one at a time, so MakeRoom must be called for each timer.
func (t *Timers[T]) MakeRoom(i uint32) {
	t.values.grow(i, t.Arena().ChunkLen(i))
	if t.values.likeArena() {
		t.shape = t.Arena().Shape()
	}
}

// Value returns the value of timer i. The pointer is valid until the next MakeRoom.
func (t *Timers[T]) Value(i uint32) *T { return t.values.at(i) }

// Touch reads the values of timers, so that the processor fetches them from memory.
func (t *Timers[T]) Touch(timers []uint32) { t.values.touch(timers) }

// Clear removes the value of timer i.
func (t *Timers[T]) Clear(i uint32) {
	var none T
	*t.Value(i) = none
}

// Release frees the memory of values whose nodes' memory was released by Remove. It reports whether so much memory was
// released that a new Timers would be smaller: the last of many timers is gone.
func (t *Timers[T]) Release(released arena.Released) (all bool) {
	if released == arena.Everything {
		return true
	}
	if released != arena.Nothing {
		t.values.drop(released.Chunk())
	}
	return false
}

// Len returns the number of timers, in a slot or not. A nil Timers has none.
func (t *Timers[T]) Len() int {
	if t == nil {
		return 0
	}
	return t.Arena().Len()
}

// Flagged returns the values of the timers that have flag f.
func (t *Timers[T]) Flagged(f arena.Flags) (flagged []T) {
	t.Arena().Each(func(i uint32, n *arena.Node) {
		if n.Flags()&f != 0 {
			flagged = append(flagged, *t.Value(i))
		}
	})
	return flagged
}

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
