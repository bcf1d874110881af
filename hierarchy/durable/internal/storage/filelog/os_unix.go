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
	return errors.Join(f.Sync(), f.Close())
}
