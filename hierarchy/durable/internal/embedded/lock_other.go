//go:build !unix

package embedded

import (
	"errors"
	"os"
)

// lock is a file that is open while the process lives. Windows does not remove an open file. The other
// systems without flock or fcntl, such as js, have one process.
type lock struct{ file *os.File }

// acquire removes what a process that has ended has left, and makes the file.
func acquire(name string) (*lock, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		if errors.Is(err, os.ErrPermission) {
			return nil, err
		}
		return nil, errInUse
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, errInUse
	}
	if err != nil {
		return nil, err
	}
	return &lock{f}, nil
}

func (l *lock) release() {
	l.file.Close()
	os.Remove(l.file.Name())
}
