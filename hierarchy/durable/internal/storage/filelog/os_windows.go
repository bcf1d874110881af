package filelog

import "syscall"

var noRoom = []error{
	syscall.Errno(39),   // ERROR_HANDLE_DISK_FULL
	syscall.Errno(112),  // ERROR_DISK_FULL
	syscall.Errno(1295), // ERROR_DISK_QUOTA_EXCEEDED
}

const readOnly = syscall.Errno(19) // ERROR_WRITE_PROTECT

// syncDir does nothing: Windows has no way to sync a directory. Its file systems keep a journal of their changes, which the
// next sync of a file writes.
func syncDir(string) error { return nil }
