package main

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, os.NewSyscallError("getrusage", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// tickBare is woken by a timerfd every period, and does nothing but start a goroutine each
// time.
func tickBare(turn, period time.Duration) (wakeups uint64, err error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return 0, os.NewSyscallError("timerfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "timerfd") // the network poller waits for it
	defer file.Close()
	var started sync.WaitGroup
	defer started.Wait()
	expirations := make([]byte, 8)
	start := time.Now()
	for at := period; at < turn; wakeups++ {
		if err := aimIn(fd, at-time.Since(start)); err != nil {
			return 0, err
		}
		if _, err := file.Read(expirations); err != nil {
			return 0, err
		}
		started.Go(func() {})
		at = max(at+period, time.Since(start)) // missed wake-ups are not made up for
	}
	return wakeups, nil
}

// aimIn sets the timerfd to expire after d, or at once if d is not positive.
func aimIn(fd int, d time.Duration) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(1, d)))}
	return os.NewSyscallError("timerfd_settime", unix.TimerfdSettime(fd, 0, &spec, nil))
}
