//go:build unix

package main

import (
	"os"
	"syscall"
)

// canStop tells whether a process can be stopped for a while here.
const canStop = true

func stop(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func goOn(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
