//go:build aix || (solaris && !illumos)

package embedded

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lock is a file that is locked while the process lives. Solaris and AIX have no flock. Their locks are of the
// process, which is enough: within one, a directory has one Server.
type lock struct{ file *os.File }

// acquire locks the file. The kernel unlocks it when the process ends, whatever ends it.
func acquire(name string) (*lock, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart})
	if err == nil {
		return &lock{f}, nil
	}
	f.Close()
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return nil, errInUse
	}
	return nil, err
}

func (l *lock) release() { l.file.Close() }
