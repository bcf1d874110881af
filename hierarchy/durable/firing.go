package durable

import (
	"time"
)

// Firing is an attempt to handle a timer that is due.
type Firing[K comparable, V any] struct {
	Key     K
	Value   V
	Due     time.Time
	Attempt int // from 1
	// ID is the same for all attempts, and never that of another timer: Set, SetAt and Move give the timer
	// a new one. An effect that is stored in one transaction with the ID happens exactly once.
	ID ID
	// Epoch increases whenever the partition changes hands. It is a fencing token: a store that has seen a
	// higher one should refuse a lower one.
	Epoch uint64
}

// Entry is a pending timer: the fields of hierarchy.Entry, and its Key, ID and Attempt.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
	Due   time.Time
	ID    ID // that of its Firings
	// Attempt is the number of attempts that have begun.
	Attempt int
}
