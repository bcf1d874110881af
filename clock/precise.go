package clock

// Precise returns the default clock of a wheel. It is the most exact clock that does not keep a processor busy while it
// waits.
//
// On Linux the runtime's own timers are up to a millisecond late in an idle process, because the process sleeps in
// whole milliseconds. Precise uses a timerfd of the kernel instead, which is some tens of microseconds late, and aims
// ahead by the latency of recent wake-ups. While the process is too busy to notice the timerfd in time, a runtime timer
// helps. One descriptor and one goroutine serve all clocks and alarms of the process. They are created when an alarm is
// set to a time less than an eighth of a second ahead, and are released 40 ms after that time, or when the last alarm
// is stopped. Tests that look for leaked goroutines meanwhile can ignore this goroutine with
// goleak.IgnoreAnyFunction("github.com/epicycle-go/epicycle/clock/internal/wakeup.(*waiter).read"). An alarm that is
// set further ahead is held by a runtime timer, which takes no descriptor and no goroutine, until a tenth of a second
// before its time. If no timerfd can be opened, runtime timers ring the alarms, and String reports that.
//
// The descriptor can be lost: other code may close a descriptor that is not its own, or the process may be restored
// from a snapshot. The loss is noticed whenever the timerfd is aimed: at each Set that makes another alarm the first,
// and at each wake-up. From then on runtime timers ring the alarms, and a second later another timerfd is opened. If
// the timerfd is not aimed, a runtime timer notices the loss, and the first alarm is late by one to four seconds. The
// number of a lost descriptor may name another file by then. That file is never aimed or closed, even if it is a
// timerfd: the clock recognizes its own timerfd by its interval of decades, which never passes. One case cannot be
// detected: the descriptor is closed, and its number used again, in the time between the check and the use, which is
// less than a microsecond.
//
// Time is CLOCK_MONOTONIC, as in package time: it does not advance while the machine is suspended. Alarms that became
// due while the process was stopped ring at once when it continues.
//
// On other systems, and in a testing/synctest bubble, whose time the kernel does not know, Precise returns System. Make
// the clock where it is used: a clock that was made outside a bubble cannot be used inside.
func Precise() Clock { return precise() }
