package durable

import (
	"time"
)

// Firing is an attempt to handle a timer that is due.
type Firing[K comparable, V any] struct {
	Key     K
	Value   V
	Due     time.Time
	Attempt int // the number of the attempt, from 1
	// ID is the same for all attempts, and never that of another timer: Set, SetAt, Move and their like give the timer a
	// new one. An effect that is stored in one transaction with the ID happens exactly once.
	ID ID
	// Epoch increases whenever the partition changes hands. It is a fencing token: a store that has seen a higher epoch
	// should refuse a lower one.
	Epoch uint64
	// Schedule is the Schedule of the timer, or zero if it has none.
	Schedule Schedule
	// Missed is the number of other runs of the Schedule that this run makes up for, by the rule of Schedule.OnMissed.
	// Due is the time of the last of all these runs.
	Missed int
	// LastError is the text of the error of the last attempt, up to 1 KiB of it. Only Dead sets it; an Entry has it at any
	// time.
	LastError string
	// Died is the time when the last attempt failed. Only Dead sets it.
	Died time.Time
}

// Entry is a timer: the fields of hierarchy.Entry, and its Key, ID, Attempt and State.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
	Due   time.Time
	ID    ID // the ID in the Firings of the timer
	// Attempt is the number of attempts that have begun.
	Attempt int
	// Schedule is the Schedule of the timer, or zero if it has none. Due is then the time of the next run.
	Schedule Schedule
	// LastError is the text of the error of the last attempt that has failed, up to 1 KiB of it, or empty. Set, Move and
	// Revive forget it. If the timer has a Schedule, it stays until a run succeeds.
	LastError string
	// LastFailed is when that attempt failed. It is zero if LastError is empty and the timer is not dead.
	LastFailed time.Time
	// Next is when the next attempt is due, if the timer waits for it after an attempt. Otherwise it is zero: the first
	// attempt is due at Due, and an attempt without a free place is due already.
	Next  time.Time
	State State
	// Paused reports whether the Schedule is paused: no attempt begins until Resume.
	Paused bool
}
