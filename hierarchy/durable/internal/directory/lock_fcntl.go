//go:build aix || (solaris && !illumos)

package directory

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// tryLock uses fcntl, as Solaris and AIX have no flock. Its locks belong to the process, which is sufficient: within
// one process, this package opens a directory once.
func tryLock(f *os.File) error {
	err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return errInUse
	}
	return err
}
