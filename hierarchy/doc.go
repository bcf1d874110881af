// Package hierarchy schedules callbacks with a hierarchical timing wheel:
// millions of timers, set and stopped in tens of nanoseconds each whatever
// their number and their delay, exact to the nanosecond on a mock clock.
//
// # Circles
//
// Timers sit on circles of 64 slots. A slot of one circle is a whole turn of
// the next finer one. With the default Interval of a second:
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
// All widths are powers of two in nanoseconds, so placing a timer is arithmetic
// on bits: its circle is told by the highest bit in which its deadline and the
// hand differ, its slot by those six bits of the deadline. Whatever sits on a
// finer circle is due before anything on a coarser one, and a word of 64 bits
// per circle says which slots hold timers: what comes next is found without a
// loop, for ten timers or ten million, and nothing is ever scanned for turns
// left to go. There is no tick either. A wheel sleeps until its next deadline.
//
// A slot only gathers: deadlines are kept exactly. When the hand comes to a slot
// of a coarse circle, its timers cascade to finer ones, unless they are few or
// already in order; then they fire from where they are. Here + is a timer, | the
// hand, and each circle has four slots instead of 64:
//
//	t = 0                      t = 16                     t = 22
//	coarse |·  +++ ·   ·       coarse ·  |·  ·   ·        coarse ·  |·  ·   ·
//	middle |·   ·  ·   +       middle |·  +  +   ·        middle ·   · |·   ·
//	fine   |+   ·  ·   ·       fine   |+  ·  ·   ·        fine   ·   · |+   ·
//
// # Promises
//
// A callback never starts before its deadline. It starts at most one Precision
// and the clock's wake-up latency after it, whatever the delay: the wheel wakes
// at a deadline exactly, unless it woke less than one Precision ago; what falls
// due sooner is gathered. So a lone timer is as exact as the clock, and a crowd
// costs at most one wake-up per Precision. On a *clock.Mock a timer fires if
// and only if the clock has come to its deadline, in order of deadline and then
// of setting.
//
// A timer fires once, or is stopped, drained or dropped, never two of these; it
// can be taken back until its callback is handed to the executor. No lock is
// held while callbacks run: they may call anything on their own wheel.
//
// Nobody waits on the crowd: cascading, sorting and firing touch at most some
// three hundred timers (tens of microseconds) under one hold of a shard's lock,
// then others are let in, and another shard gets its turn. What is due overtakes a
// crowd that cascades, and a large crowd cascades before its time. Stop and Drain
// detach all timers at once, whatever their number. Only on a mock, where order is
// everything and time stands still meanwhile, is a cascade done in one go.
//
// # Cost and concurrency
//
// Everything may be called by any number of goroutines at once, also inside
// callbacks, and nothing but Sleep, Shutdown and the functions of Drain waits for
// anything but a lock. A call costs the same however many timers are pending:
//
//	AfterFunc, At, Of.Set        some 30 ns and one reading of the clock; no allocation
//	Stop, Reset, Remaining       the same, or one cache miss if the timer is one of millions
//	Keyed.Set, Move, Remove      some 100 ns, and two cache misses
//	Every, NewTimer, NewTicker   an allocation or two besides
//	WithTimeout and its kin      some allocations, as those of package context
//	Len, Stats                   a few counters of each shard
//	Circles                      a look at each slot, some 700 of each shard
//	Drain                        n log n, without the lock; n is how many are pending
//	Stop of a wheel              constant, but for its Sleepers and contexts, which are told
//
// # Kinds of wheel
//
// Wheel schedules functions, and offers what package time and package context
// do: AfterFunc, After, NewTimer, NewTicker, Every, Sleep, WithTimeout. Of
// schedules values with one function for all. Keyed gives its timers names, by
// which they are moved, replaced and removed. All three are one generic core.
//
// A pending timer of Wheel takes 41 bytes: a node of 32 without pointers, and the
// callback, one of two thousand in an array. Memory of a timer that was stopped
// is used again at once, and goes back to the runtime after a peak.
package hierarchy
