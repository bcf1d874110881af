package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// childEnv is the environment variable that turns a process into one that sets timers. Its value is a childConfig.
const childEnv = "EPICYCLE_DEMO_CHILD"

// childConfig is the configuration of such a process.
type childConfig struct {
	Number int    // of the process, from 1
	Dir    string // of the timers; or
	URLs   string // of servers, if it shares the timers with other processes
}

// Commands for a process: to set no further timers, and end when all have fired, or to leave the timers to others and
// end.
const (
	sayFinish = "finish"
	sayLeave  = "leave"
)

// said is a record that a process wrote. process counts from 0. more is false once the process has ended.
type said struct {
	process int
	judge.Record
	more bool
}

// start starts a process that sets timers, and sends its records to says. The process is killed when ctx ends.
func start(ctx context.Context, cfg childConfig, says chan<- said) (*child.Process, error) {
	at := cfg.Number - 1
	p, err := child.Start(child.Spec{Variable: childEnv, Config: cfg, Line: func(line string) error {
		r, err := judge.ParseRecord([]byte(line))
		if err != nil {
			return fmt.Errorf("a process wrote %w", err)
		}
		says <- said{at, r, true}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, p.Kill)
	go func() {
		<-p.Ended()
		stop()
		says <- said{process: at}
	}()
	return p, nil
}

// howEnded waits for the end of a process, and returns an error if it did not end as expected. killed tells whether
// this program has killed it: then its exit status is no error, but an exit status of 0 is.
func howEnded(p *child.Process, killed bool) error {
	<-p.Ended()
	err := p.Err()
	var exit *exec.ExitError
	switch {
	case err == nil && killed:
		return errors.New("a process ended before it was killed")
	case err != nil && !errors.As(err, &exit):
		return err
	case err == nil || killed:
		return nil
	}
	return fmt.Errorf("a process failed: %w", err)
}
