package child

import (
	"os/exec"
	"syscall"
)

// endWithParent has a process end when the one that starts it does, also if it is stopped then.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
