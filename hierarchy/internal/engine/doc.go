// Package engine is a wheel with locks, a clock and an executor: what every kind of wheel of package
// hierarchy is made of. It decides when a timer is due and how its callback is called. What the timer is
// for is the business of its users.
//
// A Core has shards, each with the timers of package timers and a lock. One aim wakes all shards, and rounds fire the
// timers that are due.
//
//	core.go       the wheel, and setting a timer
//	shard.go      timers under a lock: placing, moving and ending one
//	handle.go     a timer by its handle: stopping, resetting
//	owned.go      timers with an owner, which is asked when they are due: start here for a new kind of timer
//	duenow.go     timers that are due when they are set
//	aim.go        when to wake up
//	ring.go       setting the alarm, exactly or coarsely
//	review.go     waking up later, as timers were stopped
//	wake.go       a wake-up, and staying awake for the next one
//	round.go      firing the timers that are due on all shards
//	leave.go      what a round leaves to the goroutine of its ring
//	pop.go        taking the timers that are due out of a shard
//	tasks.go      giving callbacks to the executor
//	mock.go       a wheel that is stepped by a mock clock
//	lifecycle.go  stopping, and taking all out
//	inflight.go   rounds and tasks in progress, and waiting for them
//	quota.go      how many timers may be pending
//	waits.go      how long callbacks have waited
//	counts.go     the counters
//	durations.go  a histogram
//	times.go      times as numbers, and what the clock shows
//	lock.go       a mutex that spins, and which shard a processor uses
//	require.go    errors and panics
//	check.go      the invariants, for tests
//	lockorder.go  the order of locks, for tests
//
// # Locks
//
// A goroutine that holds one of these locks takes only locks that are below it in the list. Builds with the tag
// lockorder panic if a goroutine takes a lock of this package out of order, or lacks a lock that a function requires.
//
//	the owner's lock      of a Repeater, Ticker, ChanTimer or context; below a Repeater's that of the wheel's wallWatch
//	aim.mu                held while the alarm is aimed, and all shards are asked for their deadlines
//	Shard.Mu              the locks of several shards are taken in the order of their numbers
//	FuncTimer.mu
//	inFlight.mu, waitsPart.mu, left.mu, locks of the clock, the lock of a Pool
//
// No callback of a user is called with any of them held. The owner of a timer is asked with the lock of its shard held, and
// may take locks of its own that are held in no call of the wheel.
package engine
