//go:build unix

package filelog

import (
	"errors"
	"os"
	"syscall"
)

var noRoom = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

const readOnly = syscall.EROFS

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) { // some file systems have nothing to sync there
		err = nil
	}
	return errors.Join(err, f.Close())
}
