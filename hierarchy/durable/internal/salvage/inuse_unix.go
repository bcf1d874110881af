//go:build unix && !aix && (!solaris || illumos)

package salvage

import (
	"errors"
	"os"
	"syscall"
)

// inUse reports whether a process holds the lock. It changes nothing.
func inUse(lock string) bool {
	f, err := os.Open(lock)
	if err != nil {
		return false
	}
	defer f.Close() // Close unlocks it
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
