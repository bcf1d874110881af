package member

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime returns the time since the machine was started, including the time that it has slept.
func bootTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return monotonic() // this kernel has no such clock
	}
	return time.Duration(t.Nano())
}
