package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// process is a worker, a caller or a server.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.Reader
	said  *tail
	ended chan struct{}
	err   error // how the process ended, once it has
}

// tail keeps the end of a process's output, for error messages.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const tailSize = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	if over := t.text.Len() - tailSize; over > 0 {
		t.text.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// start starts a process that ends with this one. If wantOut is true, the output is to be read from out.
func start(cmd *exec.Cmd, wantOut bool) (*process, error) {
	p := &process{cmd: cmd, said: &tail{}, ended: make(chan struct{})}
	endWithParent(cmd)
	cmd.Stderr = p.said
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if wantOut {
		if p.out, err = cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	} else {
		cmd.Stdout = p.said
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// wait waits for the end of the process. It is called once. If the output is read from out, the reader calls it at the
// end of the output.
func (p *process) wait() {
	p.err = p.cmd.Wait()
	close(p.ended)
}

// kill kills the process and all that it has started, as kill -9 does. It waits until they have ended.
func (p *process) kill() {
	killTree(p.cmd.Process.Pid)
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) failure() error {
	return fmt.Errorf("%s ended: %v: %s", p.cmd.Path, p.err, p.said)
}
