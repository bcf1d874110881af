// Package timers is the timing wheel of package circles with what each timer is for: a
// value of any type. Like circles it has no lock, no clock and no goroutine.
//
// Deadlines and values are kept apart, under the same index. Circles have no interest in
// values, so linking, sorting and moving timers touch half the memory, and nodes without
// pointers are nothing to the garbage collector.
package timers

import (
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/level"
)

// Timers is circles and a value for each node. New makes one.
type Timers[T any] struct {
	circles.Circles
	values values[T]
	shape  uint32 // of the arena, when values last had room for all of it
}

// New makes an empty Timers, with the hand at that time.
func New[T any](layout circles.Layout, tuning circles.Tuning, hand int64) *Timers[T] {
	t := &Timers[T]{values: newValues[T]()}
	t.Init(layout, tuning, hand)
	return t
}

// Set makes a new timer. grown tells whether memory has grown for it: then a crowd may
// have grown that has to be poured ahead of its time.
func (t *Timers[T]) Set(v T, now, deadline int64, sequence uint64, f level.Flags) (i uint32, grown bool) {
	i = t.Add(now, deadline, sequence, f)
	if grown = t.shape != t.Arena().Shape(); grown {
		t.makeRoom(i)
	}
	*t.Value(i) = v
	return i, grown
}

// makeRoom is called when timer i has changed the arena's shape, and does no harm at any
// other time. Smaller chunks than the arena's are made one at a time, so shape is left as
// it is and each timer asks.
func (t *Timers[T]) makeRoom(i uint32) {
	t.values.grow(i, t.Arena().ChunkLen(i))
	if t.values.likeArena() {
		t.shape = t.Arena().Shape()
	}
}

// Value is what timer i is for. It is valid until the next Set.
func (t *Timers[T]) Value(i uint32) *T { return t.values.at(i) }

// Discard ends timer i. all tells that it was the last of many, and that a new Timers
// would be smaller.
func (t *Timers[T]) Discard(i uint32, n *level.Node) (all bool) {
	var none T
	*t.Value(i) = none
	switch released := t.Remove(i, n); released {
	case level.Nothing:
	case level.Everything:
		return true
	default:
		t.values.drop(released.Chunk())
	}
	return false
}

// Len is the number of timers, in a slot or not. A nil Timers has none.
func (t *Timers[T]) Len() int {
	if t == nil {
		return 0
	}
	return t.Arena().Len()
}

// Flagged returns the values of the timers that have flag f.
func (t *Timers[T]) Flagged(f level.Flags) (flagged []T) {
	t.Arena().Each(func(i uint32, n *level.Node) {
		if n.Flags()&f != 0 {
			flagged = append(flagged, *t.Value(i))
		}
	})
	return flagged
}
