//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// process is a child, seen from its parent.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	ended    chan struct{}
	err      error       // how it ended
	expected atomic.Bool // it was killed, or told to end
}

// start starts a program, or this one again if it is "". What it says goes to a file.
func start(program string, cfg childConfig, dir, name string) (_ *process, err error) {
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, name+".txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: exec.Command(program), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(b))
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also of a stopped one
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// signal sends a signal. A process that has ended is no error.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill is kill -9. It waits for the end.
func (p *process) kill() {
	p.expected.Store(true)
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// term is SIGTERM.
func (p *process) term() {
	p.expected.Store(true)
	p.signal(syscall.SIGTERM)
}
