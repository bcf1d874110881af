// Package hierarchy schedules callbacks with a hierarchical timing wheel. Millions of
// timers can be pending. Setting and stopping one takes tens of nanoseconds, whatever
// their number and delay, and on a mock clock each fires at its exact nanosecond.
//
// # Circles
//
// Timers sit on circles of 64 slots. A slot of one circle is a whole turn of the next
// finer one. With the default Interval of a second:
//
//	circle          a slot is   a turn is
//	  0                  1ns        64ns
//	  1                 64ns       4.1µs
//	  2                4.1µs       262µs   sub-circles
//	  3                262µs      16.8ms
//	  4               16.8ms       1.07s
//	  5  (base)        1.07s       68.7s   the circle nearest to Interval
//	  6                68.7s       73min
//	  7                73min       3.3 days
//	  8             3.3 days    209 days   overflow circles
//	  9             209 days       37 years
//	 10             37 years      292 years and more
//
// All widths are powers of two in nanoseconds, so placing a timer is arithmetic on bits. A timer is on the circle of
// the highest bit in which its deadline differs from the hand. The six bits of the deadline for that circle are the
// number of its slot. All timers on a finer circle are due before those on a coarser one, and a word of 64 bits per
// circle says which slots hold timers. So the next timer is found without a loop, for ten timers or ten million, and no
// slot is scanned for turns left to go. There is no tick either: a wheel sleeps until its next deadline. While nothing
// is due within a second, it takes no goroutine and no descriptor.
//
// A slot only gathers timers: each keeps its exact deadline. When the hand comes to a slot of a coarse circle, up to 512
// timers of that slot are sorted, and fire from where they are. More than that cascade to finer circles. Here, where all
// cascade, + is a timer, | the hand, and each circle has four slots instead of 64:
//
//	t = 0                      t = 16                     t = 26
//	coarse |·  +++ ·   ·       coarse ·  |·  ·   ·        coarse ·  |·  ·   ·
//	middle |·   ·  ·   +       middle |·  +  +   ·        middle ·   · |·   ·
//	fine   |+   ·  ·   ·       fine   |+  ·  ·   ·        fine   ·   · |+   ·
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
// # Kinds of wheel
//
// Wheel schedules functions, and offers what package time and package context do: AfterFunc, After, NewTimer,
// NewTicker, Every, Sleep, WithTimeout. Packages compat/time and compat/context offer them under the names of package
// time and package context. NewFunc makes a timer that is set again and again, and NewIdle one that is touched. Of
// schedules values with one function for all. Keyed gives its timers names, by which they are moved, replaced and
// removed. Wheel, Of and Keyed share one generic core.
//
// Stop of each kind of timer reports whether the timer was pending. So does Reset of what fires once. Reset of what
// repeats, a Repeater or a Ticker, reports whether it goes on.
//
// Driven is the wheel alone, for programs that have a lock and a loop of their own: an event loop, a cache, a store. It
// has no lock, no goroutine and no clock.
//
// A pending timer of a Wheel takes 41 bytes: a node of 24 bytes without pointers, an entry of
// 8 bytes in its slot, and the callback, one of two thousand in an array. The memory of a stopped timer is reused at
// once, and goes back to the runtime after a peak.
//
// # Inside
//
// The code is in layers. Each package knows only the packages above it here:
//
//	../level/arena      the memory of nodes, and of the entries that name them
//	../level            one circle: its slots, what they hold, and the arithmetic of its width
//	internal/circles    the wheel: placing and moving timers, finding timers that are due
//	internal/timers     the wheel with a value for each timer
//	internal/executor   Go and Pool: calling functions, whatever they do to goroutines
//	internal/wheelctx   contexts, with an interface for what they need of a wheel
//	internal/engine     wheels under locks, with a clock and an executor; its page has the order of all locks
//	internal/keys       the timers of a wheel by key
//
// This package is the API:
//
//	config.go, executor.go      what a wheel is made of
//	wheel.go, of.go, timer.go   functions and values
//	functimer.go, idle.go       timers that are set again and again, and timers that are touched: see engine.Owned
//	keyed.go, keyed….go         timers with names: setting, draining, listing
//	repeater….go, schedule.go   functions that run again and again
//	missed.go, wallwatch.go     runs that are missed, and a wall clock that is set
//	chantimer.go, ticker.go     channels
//	sleep.go, context.go        goroutines and contexts that wait for a time
//	driven….go                  the wheel alone, which uses nothing of internal/engine
//	stats.go                    counters, histograms, circles
package hierarchy
