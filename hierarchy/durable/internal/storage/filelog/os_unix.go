//go:build unix

package filelog

import (
	"errors"
	"os"
	"syscall"
)

var (
	noRoom  = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
	tooMany = []error{syscall.EMFILE, syscall.ENFILE}
	busy    []error
)

const readOnly = syscall.EROFS

func openDir(dir string) (Dir, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return unixDir{f}, nil
}

type unixDir struct{ *os.File }

// Sync returns nil where the file system has nothing to sync.
func (d unixDir) Sync() error {
	if err := d.File.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
