package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// step is something that happens, and the condition for which the script waits afterwards.
type step struct {
	text  string
	fault bool // the report shows it
	do    func() error
	until func() bool
	least time.Duration // how long the step lasts, at least
}

// patience is how long a step may take, on a slow machine.
const patience = time.Minute

// script returns the steps of the demonstration. A worker takes part for at least d.life.
func (d *clusterDemo) script() []step {
	all := []step{
		{text: "three workers begin", until: func() bool { return d.share("1", "2", "3") }},
		{text: "each has its share", until: func() bool { return d.rate > 0 }, least: 2 * d.life},
		{text: "kill -9 of worker 2", fault: true, do: func() error { return d.kill(1) },
			until: func() bool { return d.share("1", "3") }, least: d.life},
		{text: "worker 4 joins", fault: true, do: d.startWorker, until: func() bool { return d.share("1", "3", "4") }, least: d.life},
	}
	if child.CanStop {
		all = append(all,
			step{text: "worker 3 is stopped", fault: true, do: func() error { return d.stop(2) },
				until: func() bool { return d.share("1", "4") }, least: d.life},
			step{text: "worker 3 goes on", fault: true, do: func() error { return d.goOn(2) },
				until: func() bool { return d.share("1", "3", "4") }, least: d.life})
	}
	return append(all,
		step{text: "kill -9 of a server", fault: true, do: d.killServer, until: d.recovered, least: max(2*d.life, mustFire)},
		step{text: "worker 1 ends in order", fault: true, do: func() error { return d.leave(0) },
			until: func() bool { return d.share("3", "4") }, least: d.life},
		step{text: "no timers are set any more", do: d.finish, until: func() bool { return d.running == 0 }})
}

// do does one step, and prints what happens meanwhile.
func (d *clusterDemo) do(s step) error {
	if s.fault {
		d.events = append(d.events, moment{s.text, time.Now()})
	}
	d.event(s.text)
	if s.do != nil {
		if err := s.do(); err != nil {
			return err
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < s.least || !s.until(); {
		select {
		case e := <-d.says:
			if err := d.hear(e); err != nil {
				return err
			}
		case <-tick.C:
			d.look()
			if time.Since(begun) > patience {
				return fmt.Errorf("%s: nothing came of it within %s", s.text, terminal.Span(patience))
			}
		case <-d.ctx.Done():
			return d.ctx.Err()
		}
	}
	return nil
}

func (d *clusterDemo) kill(worker int) error {
	w := d.workers[worker]
	w.silent, w.killed = true, true
	w.Kill()
	return nil
}

func (d *clusterDemo) stop(worker int) error {
	d.workers[worker].silent = true
	d.stopped(worker)
	return d.workers[worker].Stop()
}

func (d *clusterDemo) goOn(worker int) error {
	d.workers[worker].silent = false
	return d.workers[worker].GoOn()
}

// leave makes a worker shut down, while the others continue.
func (d *clusterDemo) leave(worker int) error {
	d.workers[worker].silent = true
	return d.workers[worker].Tell(sayLeave)
}

// killServer kills the server that leads the log of partition 0.
func (d *clusterDemo) killServer() error {
	nc, err := nats.Connect(d.urls())
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(d.ctx, 10*time.Second)
	defer cancel()
	leader, err := servers.Leader(ctx, nc, "timers", 0)
	if err != nil {
		return err
	}
	for _, s := range d.servers {
		if s.Name == leader {
			s.Kill()
			return nil
		}
	}
	return errors.New("no server leads the log of partition 0")
}

// recovered reports whether everything has fired that should have. It looks at all timers, and therefore not on each
// call.
func (d *clusterDemo) recovered() bool {
	if time.Since(d.looked) < lookEvery {
		return false
	}
	d.looked = time.Now()
	return !d.overdue(d.looked.Add(-mustFire))
}

const (
	mustFire  = latest + 500*time.Millisecond // how long after its acknowledgement a timer should have fired
	lookEvery = 100 * time.Millisecond
)

// finish makes all workers stop setting timers. Each of them ends when all its timers have fired.
func (d *clusterDemo) finish() error {
	d.finishing = true
	for _, w := range d.workers {
		if !w.silent {
			if err := w.Tell(sayFinish); err != nil {
				return err
			}
		}
	}
	return nil
}
