package filelog

import (
	"os"
	"syscall"
)

// Sync does not write the time of the last change, which nobody reads.
func (f osFile) Sync() error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
