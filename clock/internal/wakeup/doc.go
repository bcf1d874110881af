// Package wakeup rings alarms within some tens of microseconds of their time on Linux. The package is empty on other
// systems.
//
// Each alarm is rung by a timer of the runtime. An idle process sleeps in epoll_wait, whose timeout has whole
// milliseconds, so by themselves the runtime's timers are up to a millisecond late. Therefore a Linux timerfd, which the
// runtime's network poller watches, is aimed at the nearest alarm. When it expires, epoll_wait returns, and before the
// scheduler sleeps again it runs the timers that are due. Nobody reads the timerfd: each expiry is a new event for the
// poller. In a busy process the timerfd has no effect, and the alarms are as late as the runtime's timers. They are
// never later, whatever happens to the timerfd.
//
//	alarm_linux.go     the alarms of clocks
//	waker_linux.go     the alarms that are near, and when there is a timerfd
//	timerfd_linux.go   the timerfd itself
package wakeup
