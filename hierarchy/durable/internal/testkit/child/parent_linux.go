package child

import (
	"os/exec"
	"syscall"
)

// endWithParent makes a process end when the one that starts it ends, even while it is suspended.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
