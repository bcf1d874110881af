package member

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is the time since the machine was started. It goes on while the machine sleeps.
func bootTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return monotonic() // of a system that has no such clock, and never has it
	}
	return time.Duration(t.Nano())
}
