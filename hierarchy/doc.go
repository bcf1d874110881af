// Package hierarchy schedules callbacks with a hierarchical timing wheel. Millions of timers can be pending, and setting
// or stopping one takes tens of nanoseconds, whatever their number and delay. Which type is for which need:
//
//	Wheel            functions, and what packages time and context offer: AfterFunc, Every, NewTimer, Sleep, WithTimeout
//	Wheel.NewFunc    a function that is set again and again, such as a retry
//	Wheel.NewIdle    a timeout that activity puts off, such as that of a connection
//	Wheel.Schedule   a function that runs by the calendar: see package hierarchy/schedule
//	Of               many values with one function for all, without a closure for each
//	Keyed            timers with names, by which they are moved, replaced and removed, such as the keys of a cache
//	Driven           the wheel alone, for programs with a lock and a loop of their own
//
// The zero Config is right for most services. This cancels an order in half an hour, unless it is paid before:
//
//	w, err := hierarchy.NewKeyed(hierarchy.Config{}, func(id string, o Order) { cancel(o) })
//	err = w.Set("order-17", order, 30*time.Minute)
//	order, wasUnpaid := w.Remove("order-17")
//
// In tests, a [github.com/epicycle-go/epicycle/clock.Mock] as Config.Clock makes time pass in an instant, and each timer
// fire at its exact nanosecond. Packages compat/time and compat/context have the names of packages time and context, so
// that changing an import puts a program's timers on a wheel.
//
// # Promises
//
// A callback never starts before its deadline. With Go and Inline it starts at most one Precision and the clock's
// wake-up latency after its deadline, whatever the delay. Config.Precision says which timers wait for a Precision: not
// those of a wheel with few timers, unless Precision is set. A timer that is already due when it is set, because its
// delay is zero or less or its time has passed, waits for none. With Go and Pool its callback is dispatched within the
// call. Channels are served within the call with any executor. On a *clock.Mock a timer fires if and only if the clock has
// reached its deadline, in order of deadline and then of setting. A Pool gets its callbacks just as punctually, but
// callbacks wait in the Pool for a worker. Stats.Waited is a histogram of these waits.
//
// A timer ends in one of four ways, and never in two: it fires once, or is stopped, drained or dropped. It can be
// stopped until its callback is dispatched to the executor. No lock is held while callbacks run, so they may call
// anything on their own wheel.
//
// No call waits for a crowd. Cascading, sorting and firing go through some hundred entries
// under one hold of a shard's lock, which takes tens of microseconds. Then other
// callers and other shards get their turn. Timers that are due overtake a crowd that
// cascades, and a large crowd cascades before its time. Stop and Drain detach all timers
// at once, whatever their number. Only on a mock is a cascade not interrupted: time
// stands still meanwhile.
//
// # Cost and concurrency
//
// Everything but a Driven may be called by any number of goroutines at once, also inside callbacks. Sleep, Shutdown and
// StopWait may wait for long, and Drain waits for the function that it calls. All other calls wait for nothing but a
// lock. The cost of a call does not depend on how many timers are pending:
//
//	AfterFunc, At, Of.Set        some 30 ns and one reading of the clock; no allocation
//	Stop, Reset, Remaining       the same as AfterFunc, or one cache miss if the timer is one of millions
//	AfterInline                  the same as AfterFunc, and no goroutine when it fires
//	FuncTimer.Reset, Stop        the same as Stop and Reset, and one cache miss for the FuncTimer
//	Idle.Touch                   one reading of the clock and some 5 ns; no lock
//	Keyed.Set, Move, Remove      some 100 ns, and two cache misses
//	Every, NewTimer, NewTicker   the same as AfterFunc, and one or two allocations; NewFunc, NewIdle, too
//	WithTimeout, WithDeadline    two allocations, and four to six more for Done
//	Len, Stats                   a few counters of each shard
//	Circles                      a look at each slot, some 700 of each shard
//	Drain                        n log n for n pending timers, without the lock
//	Keyed.All                    some 20 ns for each key
//	Driven.Set, Move, Remove     some 10 ns each
//	Stop of a wheel              constant, plus a call for each Sleep and context that waits
//
// Stop of each kind of timer reports whether the timer was pending. So does Reset of what fires once. Reset of what
// repeats, a Repeater or a Ticker, reports whether it goes on.
//
// # Inside
//
// Timers sit on circles of 64 slots. A slot of one circle is a whole turn of the next finer one, from a nanosecond to 37
// years. The circle nearest to Config.Interval is the base circle, finer ones are its sub-circles, and coarser ones its
// overflow circles. A timer is placed by arithmetic on the bits of its deadline, and the next timer is found in the same
// way, so no slot is scanned for turns left to go, and there is no tick: a wheel sleeps until its next deadline.
// docs/ARCHITECTURE.md is a map of the code, and docs/design.md explains how it works and why.
package hierarchy
