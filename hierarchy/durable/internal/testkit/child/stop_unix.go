//go:build unix

package child

import "syscall"

// CanStop reports whether a process can be stopped for a while on this system.
const CanStop = true

// Stop suspends the process.
func (p *Process) Stop() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// GoOn continues the process after Stop.
func (p *Process) GoOn() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Term sends SIGTERM to the process.
func (p *Process) Term() error {
	p.Expect()
	return p.cmd.Process.Signal(syscall.SIGTERM)
}
