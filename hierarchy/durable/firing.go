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
	// Schedule is that of SetSchedule. It is zero if the timer has none.
	Schedule Schedule
	// Missed is the number of runs of the Schedule that this one stands for beside its own, by the rule of
	// Schedule.OnMissed. Due is the last of them.
	Missed int
	// LastError, of the timers that Dead yields, is the text of the error of the last attempt, up to 1 KiB of it.
	LastError string
	// Died, of the timers that Dead yields, is when the last attempt failed.
	Died time.Time
}

// Entry is a timer: the fields of hierarchy.Entry, and its Key, ID, Attempt and State.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
	Due   time.Time
	ID    ID // that of its Firings
	// Attempt is the number of attempts that have begun.
	Attempt int
	// Schedule is that of SetSchedule. It is zero if the timer has none. Due is the next run.
	Schedule Schedule
	// LastError, of a dead timer that Lookup or List returns, is the text of the error of the last attempt, up to 1 KiB of it.
	LastError string
	State     State // All yields StateWaiting if an owner that runs an earlier version of this package does not say
}
