// Package child starts processes that tests, the demo and the torture test kill, stop and communicate with: this
// program again.
package child

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// Main calls run and exits, if Start has started this process with the environment variable. Otherwise it returns.
// run should return when its input ends, since its parent has ended then.
func Main[Config any](variable string, run func(cfg Config, in io.Reader, out io.Writer) error) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var cfg Config
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = run(cfg, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(terminal.ExitFailed)
	}
	os.Exit(terminal.ExitOK)
}

// Spec describes a process to start.
type Spec struct {
	Program  string // "": this one
	Variable string // the environment variable by which Main recognizes it
	Config   any    // for Main
	// Log is a file to which the process's output is appended. If it is "", its standard error is in Err, and Line is
	// called for each line of its output. If Line returns an error, the process is ended. An incomplete last line is
	// ignored.
	Log  string
	Line func(line string) error
}

// Process is a process that was started.
type Process struct {
	In io.WriteCloser // of the process

	cmd      *exec.Cmd
	errs     bytes.Buffer
	ended    chan struct{}
	err      error
	expected atomic.Bool
}

// Start starts a process.
func Start(s Spec) (_ *Process, err error) {
	if s.Program == "" {
		if s.Program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cfg, err := json.Marshal(s.Config)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(s.Program), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), s.Variable+"="+string(cfg))
	endWithParent(p.cmd)
	if p.In, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out := io.ReadCloser(io.NopCloser(strings.NewReader("")))
	if s.Log == "" {
		p.cmd.Stderr = &p.errs
		out, err = p.cmd.StdoutPipe()
	} else {
		var log *os.File
		if log, err = os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
			defer log.Close()
			p.cmd.Stdout, p.cmd.Stderr = log, log
		}
	}
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.follow(out, s.Line)
	return p, nil
}

// follow reads what the process writes, and waits for its end.
func (p *Process) follow(out io.Reader, heard func(line string) error) {
	var bad error
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if heard != nil && bad == nil {
			if bad = heard(strings.TrimSuffix(line, "\n")); bad != nil {
				_ = p.cmd.Process.Kill()
			}
		}
	}
	if p.err = p.cmd.Wait(); bad != nil {
		p.err = bad
	} else if text := bytes.TrimSpace(p.errs.Bytes()); p.err != nil && len(text) > 0 {
		p.err = fmt.Errorf("%w: %s", p.err, text)
	}
	close(p.ended)
}

// ID returns the process's number on this machine.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Tell writes a line to the process's input.
func (p *Process) Tell(line string) error {
	_, err := io.WriteString(p.In, line+"\n")
	return err
}

// Ended returns a channel that is closed after the last line, when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err returns how the process ended: its exit status and its standard error, or what was wrong with its output.
func (p *Process) Err() error { return p.err }

// Expected reports whether the process was killed, or told to end.
func (p *Process) Expected() bool { return p.expected.Load() }

// Expect records that the process was told to end.
func (p *Process) Expect() { p.expected.Store(true) }

// Kill is kill -9, even on systems without signals. If the process has already ended, that is no error.
func (p *Process) Kill() {
	p.Expect()
	_ = p.cmd.Process.Kill()
}

// End kills the process, and waits for its end.
func (p *Process) End() {
	p.Kill()
	<-p.ended
}
