package clock

// Precise returns the default clock of a wheel. It is the most exact clock that does not keep a processor busy while it
// waits.
//
// On Linux the runtime's timers are up to a millisecond late in an idle process, because the process sleeps in whole
// milliseconds. The alarms of Precise are such timers, too, but a timerfd of the kernel is aimed at the nearest of them
// and wakes the process, which then runs the timers that are due. So an alarm is some tens of microseconds late in an
// idle process, and as late as a timer of package time in a busy one, never later. There is no goroutine. One descriptor
// serves all clocks and alarms of the process. It is opened when an alarm is set to a time less than an eighth of a second
// ahead, and closed 40 ms after the last such alarm has rung or was stopped. For an alarm that is set further ahead, it is opened a tenth of a second before
// its time. If no timerfd can be opened, alarms are as late as timers of package time, and String reports that.
//
// The descriptor can be lost: other code may close a descriptor that is not its own, or the process may be restored
// from a snapshot. The loss is noticed when the timerfd is aimed, and a second later another timerfd is opened. The number
// of a lost descriptor may name another file by then. That file is never aimed or closed, even if it is a timerfd: the
// clock recognizes its own timerfd by its interval of decades, which never passes. One case cannot be detected: the
// descriptor is closed, and its number used again, in the time between the check and the use, which is less than a
// microsecond.
//
// Time is CLOCK_MONOTONIC, as in package time: it does not advance while the machine is suspended. Alarms that became
// due while the process was stopped ring at once when it continues.
//
// On other systems, and in a testing/synctest bubble, whose time the kernel does not know, Precise returns System. Make
// the clock where it is used: a clock that was made outside a bubble cannot be used inside.
func Precise() Clock { return precise() }
