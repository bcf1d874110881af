//go:build !unix && !windows

package filelog

import "syscall"

var (
	noRoom  = []error{syscall.ENOSPC}
	tooMany = []error{syscall.EMFILE, syscall.ENFILE}
	busy    []error
)

const readOnly = syscall.EROFS

// openDir returns a directory whose Sync does nothing.
func openDir(string) (Dir, error) { return noDir{}, nil }

type noDir struct{}

func (noDir) Sync() error  { return nil }
func (noDir) Close() error { return nil }
