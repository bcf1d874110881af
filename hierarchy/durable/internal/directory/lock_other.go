//go:build !unix

package directory

import (
	"errors"
	"os"
)

// acquire creates a file that stays open while the process lives. First it removes the file that an ended process has
// left behind, which fails if that is still open: Windows does not remove open files. The other systems without flock
// or fcntl, such as js, have only one process.
func acquire(name string) (*os.File, error) {
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
	return f, err
}

func release(lock *os.File) {
	lock.Close()
	os.Remove(lock.Name())
}
