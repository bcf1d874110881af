package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// process is one that sets timers, seen from the one that kills it.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	errs bytes.Buffer
	says chan event // closed at the end of what it wrote
	err  error      // of a line that can't be read; set before says is closed
}

// start starts this program again, as process number that. A variable of its environment says what it
// is to be. It is killed when ctx ends.
func start(ctx context.Context, variable string, number int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self, strconv.Itoa(number)), says: make(chan event, 1000)}
	p.cmd.Env = append(os.Environ(), variable)
	p.cmd.Stderr = &p.errs
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(out)
	return p, nil
}

// read reads lines until the pipe is empty and the process gone. The last line may be cut off: then
// it says nothing.
func (p *process) read(out io.Reader) {
	defer close(p.says)
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		e, err := parseLine(strings.TrimSuffix(line, "\n"))
		if err != nil && p.err == nil {
			p.err = err
			_ = p.cmd.Process.Kill()
		}
		if err == nil {
			p.says <- e
		}
	}
}

// kill is kill -9, also where there are no signals.
func (p *process) kill() error { return p.cmd.Process.Kill() }

// What a process is told: to set no further timers, and to end when all have fired, or to leave the
// timers to others and end.
const (
	sayFinish = "finish"
	sayLeave  = "leave"
)

func (p *process) tell(what string) error {
	_, err := io.WriteString(p.in, what+"\n")
	return err
}

// wait is called when says is closed. killed tells whether this program has killed the process:
// then its exit status is no error.
func (p *process) wait(killed bool) error {
	p.in.Close()
	err := p.cmd.Wait()
	switch {
	case p.err != nil:
		return p.err
	case err == nil && killed:
		return errors.New("a process ended before it was killed")
	case err == nil || killed:
		return nil
	}
	return fmt.Errorf("a process failed: %w: %s", err, strings.TrimSpace(p.errs.String()))
}
