//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// access returns an error if this process can't create files in a directory.
func access(dir string) error {
	const readWriteSearch = 4 | 2 | 1
	if err := syscall.Access(dir, readWriteSearch); err != nil {
		return &os.PathError{Op: "access", Path: dir, Err: err}
	}
	return nil
}
