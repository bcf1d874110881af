package servers

import (
	"fmt"
	"io"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
)

// variable is the environment variable that turns a process into a server. Its value is the Config.
const variable = "EPICYCLE_SERVER"

// Main runs a server, and does not return, if this process was started by Spawn or Launch. Commands and tests that call
// these must call Main before anything else.
func Main() { child.Main(variable, serve) }

const ready = "ready"

// serve runs a server until in ends, which it does when the process at its other end ends.
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

// Process is a server in a process of its own. It ends with the process that started it, however that one ends.
type Process struct {
	Config
	*child.Process
}

// Launch starts this program again as a server that logs to a file. Clients can't connect yet.
func Launch(cfg Config, log string) (*Process, error) {
	p, err := child.Start(child.Spec{Variable: variable, Config: cfg, Log: log})
	if err != nil {
		return nil, err
	}
	return &Process{cfg, p}, nil
}

// Spawn starts this program again as a server, and returns when clients can connect.
func Spawn(cfg Config) (*Process, error) {
	isReady := make(chan bool, 1)
	p, err := child.Start(child.Spec{Variable: variable, Config: cfg, Line: func(string) error {
		select {
		case isReady <- true:
		default:
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	select {
	case <-isReady:
		return &Process{cfg, p}, nil
	case <-p.Ended():
		return nil, fmt.Errorf("server %s does not start: %w", cfg.Name, p.Err())
	}
}

// Kill is kill -9, even on systems without signals. It waits for the end, and may be called again.
func (p *Process) Kill() { p.End() }

// SpawnAll starts several servers at the same time, since the servers of a cluster wait for each other.
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
