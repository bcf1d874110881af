package durable

import (
	"time"
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

// Entry is a timer that is pending: hierarchy's Entry, its key, and what a Firing of it would have.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
	Due   time.Time
	// ID is that of its Firings.
	ID ID
	// Attempt is how many attempts have begun.
	Attempt int
}
