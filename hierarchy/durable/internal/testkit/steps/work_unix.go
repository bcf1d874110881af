//go:build unix

package steps

import (
	"syscall"
	"time"
)

// work returns the time of processors that this process has taken.
func work() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
