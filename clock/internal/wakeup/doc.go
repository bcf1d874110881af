// Package wakeup rings alarms within some tens of microseconds of their time on Linux. The
// runtime's own timers are up to a millisecond late there in an idle process. The package is
// empty on other systems.
//
// One Queue serves the whole process. Its alarms wait in a heap. A Linux timerfd is aimed at
// the first of them. A goroutine, the waiter, waits for the timerfd and rings the alarms that
// are due. Timerfd and waiter exist only while an alarm is near.
//
//	queue_linux.go     the queue: setting and stopping alarms
//	ring_linux.go      ringing the alarms that are due
//	aim_linux.go       aiming the timerfd and the backup at the first alarm
//	near_linux.go      when there is a waiter, and asking whether an alarm is still needed
//	waiter_linux.go    the goroutine that waits for the timerfd
//	timerfd_linux.go   the timerfd itself
//	backup_linux.go    a runtime timer that holds far alarms, stands in for the timerfd, and
//	                   guards the waiter
//	latency_linux.go   what the queue learns from wake-ups: how far to aim ahead, and whether
//	                   the process is overloaded and needs the backup
package wakeup
