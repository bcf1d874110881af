// Package wakeup rings alarms some tens of microseconds late on Linux, where the runtime's
// own timers are up to a millisecond late in an idle process. It is empty on other systems.
//
// One Queue serves the whole process. Its alarms wait in a heap. A timerfd of the kernel is
// aimed at the first of them, and a goroutine, the waiter, waits for the timerfd and rings
// the alarms that are due.
//
//	queue.go     the queue: setting, stopping and ringing alarms
//	aim.go       aiming the timerfd and the backup at the first alarm
//	waiter.go    the goroutine that waits for the timerfd
//	timerfd.go   the timerfd itself
//	backup.go    a runtime timer that stands in for the timerfd, and guards the waiter
//	latency.go   what the waiter learns: by how much to aim ahead, and whether the process
//	             is overloaded, so that the backup is needed
package wakeup
