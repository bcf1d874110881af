package durable

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Firing is a timer that is due.
type Firing[K comparable, V any] struct {
	Key     K
	Value   V
	Due     time.Time
	Attempt int // from 1
	// ID is the same at each attempt, and never that of another timer: Set, SetAt and Move give a
	// new one. An effect that is stored with it is effectively once.
	ID ID
	// Epoch rises whenever the partition changes hands. What has seen a higher one should refuse a
	// lower one.
	Epoch uint64
}

// ID names a timer. It is comparable, and its String can be stored.
type ID struct{ id frame.ID }

// String is the ID as 32 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x%016x", id.id.Owner, id.id.Number) }

// Entry is a timer that is pending.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
	Due   time.Time
}
