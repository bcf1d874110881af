package servers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// variable is the environment variable that makes a process a server. It has the Config.
const variable = "EPICYCLE_SERVER"

// Main runs a server if this process was started by Spawn, and does not return then. The commands and
// tests that call Spawn call it before anything else.
func Main() {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var cfg Config
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = serve(cfg, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const ready = "ready"

// serve runs a server until in ends, which is when the process at the other end of it does.
func serve(cfg Config, in io.Reader, out io.Writer) error {
	s, err := Start(cfg)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, ready)
	_, err = io.Copy(io.Discard, in)
	s.Shutdown()
	s.WaitForShutdown()
	return err
}

// Process is a server in a process of its own. It ends with the process that started it, whatever
// happens to that one.
type Process struct {
	Config
	cmd  *exec.Cmd
	in   io.Closer
	errs strings.Builder
}

// Spawn starts this program again as a server, and returns when clients can connect.
func Spawn(cfg Config) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	p := &Process{Config: cfg, cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), variable+"="+string(text))
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
	if line, _ := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != ready {
		p.Kill()
		return nil, fmt.Errorf("server %s does not start: %s", cfg.Name, strings.TrimSpace(p.errs.String()))
	}
	return p, nil
}

// Kill is kill -9, also where there are no signals. It may be called again.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed, which is an error
	p.in.Close()
}

// SpawnAll starts several servers at the same time. Those of a cluster wait for each other.
func SpawnAll(cfgs []Config) ([]*Process, error) {
	all := make([]*Process, len(cfgs))
	errs := make(chan error, len(cfgs))
	for i, cfg := range cfgs {
		go func() {
			var err error
			all[i], err = Spawn(cfg)
			errs <- err
		}()
	}
	var failed error
	for range cfgs {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	if failed == nil {
		return all, nil
	}
	for _, p := range all {
		if p != nil {
			p.Kill()
		}
	}
	return nil, failed
}

// Ended tells whether the server has ended, as far as Kill knows.
func (p *Process) Ended() bool { return p.cmd.ProcessState != nil }
