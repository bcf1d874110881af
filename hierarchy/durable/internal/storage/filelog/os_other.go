//go:build !unix && !windows

package filelog

import "syscall"

var noRoom = []error{syscall.ENOSPC}

func syncDir(string) error { return nil }
