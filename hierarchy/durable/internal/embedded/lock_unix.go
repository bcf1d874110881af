//go:build unix && !aix && (!solaris || illumos)

package embedded

import (
	"errors"
	"os"
	"syscall"
)

// lock is a file that is locked while the process lives.
type lock struct{ file *os.File }

// acquire locks the file. The kernel unlocks it when the process ends, whatever ends it.
func acquire(name string) (*lock, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &lock{f}, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errInUse
	}
	return nil, err
}

func (l *lock) release() { l.file.Close() }
