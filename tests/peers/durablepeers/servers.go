package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"
)

// serverSpec is a server: this program in a role, or another program.
type serverSpec struct {
	Addr    string
	Role    *role
	Command func() *exec.Cmd
	Ready   func(ctx context.Context, addr string) error // returns nil if the server answers
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func freePort() (int, error) {
	l, err := net.Listen("tcp", loopback(0))
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

const (
	startTimeout  = time.Minute
	readyTimeout  = 5 * time.Second
	readyInterval = 3 * time.Millisecond
)

// start starts the server and waits until it answers. A server that ends is started again: after a kill, its port or
// memory may still be taken for a while.
func (s serverSpec) start(ctx context.Context) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		p, err := s.launch()
		if err != nil {
			return nil, err
		}
		if err = s.await(ctx, p); err == nil {
			return p, nil
		}
		if ctx.Err() != nil {
			p.kill()
			return nil, fmt.Errorf("it did not answer: %w", err)
		}
	}
}

func (s serverSpec) launch() (*process, error) {
	var cmd *exec.Cmd
	var err error
	if s.Role != nil {
		if cmd, err = s.Role.command(); err != nil {
			return nil, err
		}
	} else {
		cmd = s.Command()
	}
	p, err := start(cmd, false)
	if err == nil {
		go p.wait()
	}
	return p, err
}

// await waits until the server answers or has ended.
func (s serverSpec) await(ctx context.Context, p *process) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, readyTimeout)
		err := s.Ready(attempt, s.Addr)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return p.failure()
		case <-ctx.Done():
			return err
		case <-time.After(readyInterval):
		}
	}
}
