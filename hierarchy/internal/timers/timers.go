// Package timers is the timing wheel of package circles with a value of any type for each timer. Like circles it has no
// lock, no clock and no goroutine.
//
// Deadlines and values are kept apart, under the same index. Circles don't use values, so linking, sorting and moving
// timers touch half the memory, and the garbage collector need not scan nodes, which have no pointers.
package timers

import (
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
