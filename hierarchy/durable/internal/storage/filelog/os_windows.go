package filelog

import "syscall"

var noRoom = []error{
	syscall.Errno(39),   // ERROR_HANDLE_DISK_FULL
	syscall.Errno(112),  // ERROR_DISK_FULL
	syscall.Errno(1295), // ERROR_DISK_QUOTA_EXCEEDED
}

var tooMany = []error{syscall.EMFILE, syscall.Errno(4)} // ERROR_TOO_MANY_OPEN_FILES

var busy = []error{
	syscall.Errno(5),  // ERROR_ACCESS_DENIED
	syscall.Errno(32), // ERROR_SHARING_VIOLATION
	syscall.Errno(33), // ERROR_LOCK_VIOLATION
}

const readOnly = syscall.Errno(19) // ERROR_WRITE_PROTECT

// openDir returns a directory whose Sync does nothing: Windows has no way to sync one. Its file systems keep a journal of
// their changes, which the next sync of a file writes.
func openDir(string) (Dir, error) { return noDir{}, nil }

type noDir struct{}

func (noDir) Sync() error  { return nil }
func (noDir) Close() error { return nil }
