package clock

// Precise is the clock a wheel uses when none is named: the most exact one that
// leaves the processor to others while it waits.
//
// On Linux the runtime's own timers are up to a millisecond late in an idle
// process, as it sleeps in whole milliseconds. Precise has the kernel wake it by
// a timerfd, which is some tens of microseconds late, and aims ahead by what the
// last wake-ups were late. While the process is too busy to notice the timerfd in
// time, a runtime timer helps. One descriptor and one goroutine serve all clocks
// and alarms of the process. They come with the first alarm that is set and go
// when the last is stopped, or when none was set for a fifth of a second. Where
// there is no timerfd to be had, runtime timers do its work; String says so.
//
// The descriptor can be lost: to code that closes descriptors which are not its
// own, or where a process is restored from a snapshot. That is noticed whenever the
// timerfd is aimed, so at each Set that makes another alarm the first, and at each
// wake-up. Alarms ring by runtime timers from then on, and a second later another
// timerfd is opened. If nobody aims, a runtime timer notices, some seconds after the
// first alarm should have rung: that one is late by one to four seconds. The number
// of a lost descriptor may name a file of somebody else's by then. It is neither
// aimed nor closed, also if it is a timerfd: ours is told from others by its
// interval, which is of decades and never passes. What can't be helped is a
// descriptor that is closed, and its number used again, in the moment, less than a
// microsecond, between looking and acting.
//
// Time is CLOCK_MONOTONIC, as in package time: it does not count while the
// machine is suspended. What became due while the process was stopped rings at
// once when it goes on.
//
// On other systems, and in a testing/synctest bubble, whose time no kernel
// knows, Precise returns System. Make the clock where it is used: one that was
// made outside a bubble can't be used inside.
func Precise() Clock { return precise() }
