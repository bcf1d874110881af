package main

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// memoryProgram is a server whose connections are in memory, so that there can be more of them, and they cost less.
func memoryProgram() program {
	return program{
		name:  "memory",
		what:  "%s connections in memory with an idle timeout",
		unit:  "message and its answer, at both ends",
		each:  "connection",
		late:  "how late idle connections are closed",
		full:  size{N: 200_000, Rounds: 5, Lifetime: 4 * time.Second},
		quick: size{N: 1000, Rounds: 2, Lifetime: time.Second},
		work:  func(s size) int { return s.N * s.Rounds },
		ways:  idleWays(runMemory),
	}
}

// runMemory connects, sends messages on all connections, and then none until all are closed.
func runMemory(way newTimeouts) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		s, err := newSessions(size.Lifetime, size.N, way)
		if err != nil {
			return f, err
		}
		defer s.stop()
		all := make([]*pipe, size.N)
		before := liveBytes()
		for id := range all {
			all[id] = newPipe()
			s.ended.Go(func() { s.serve(&session{conn: all[id], id: id}) })
		}
		if err := talk(all, 1); err != nil {
			return f, err
		}
		f.each(len(all), before)
		m := newMeter()
		err = talk(all, size.Rounds)
		m.stop(&f, size.Rounds*len(all))
		if err != nil {
			return f, err
		}
		err = s.late.wait(ctx, &f)
		s.ended.Wait()
		return f, errors.Join(err, s.failure())
	}
}

// talk sends messages on all connections and waits for the answers.
func talk(all []*pipe, rounds int) error {
	for range rounds {
		var g errgroup.Group
		half := len(all) / 2
		for _, some := range [][]*pipe{all[:half], all[half:]} {
			g.Go(func() error {
				for few := range slices.Chunk(some, 100) {
					if err := talkOn(few); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func talkOn(some []*pipe) error {
	for _, c := range some {
		select {
		case c.messages <- struct{}{}:
		case <-c.gone:
			return errSlow
		}
	}
	for _, c := range some {
		select {
		case <-c.answers:
		case <-c.gone:
			return errSlow
		}
	}
	return nil
}

// pipe is the least that a connection in memory needs. Its deadline is a timer that is made once, like the one of a
// connection of package net. net.Pipe makes one for each deadline.
type pipe struct {
	messages, answers chan struct{}
	gone              chan struct{}
	close             sync.Once
	deadline          *time.Timer // nil before the first deadline; only the goroutine that reads uses it
}

func newPipe() *pipe {
	return &pipe{messages: make(chan struct{}, 1), answers: make(chan struct{}, 1), gone: make(chan struct{})}
}

func (p *pipe) Read(text []byte) (int, error) {
	var due <-chan time.Time
	if p.deadline != nil {
		due = p.deadline.C
	}
	select {
	case <-p.messages:
		return len(text), nil
	case <-p.gone:
		return 0, net.ErrClosed
	case <-due:
		return 0, os.ErrDeadlineExceeded
	}
}

func (p *pipe) Write(text []byte) (int, error) {
	select {
	case p.answers <- struct{}{}:
		return len(text), nil
	case <-p.gone:
		return 0, net.ErrClosed
	}
}

func (p *pipe) Close() error {
	p.close.Do(func() { close(p.gone) })
	return nil
}

// SetReadDeadline is called by the goroutine that reads.
func (p *pipe) SetReadDeadline(due time.Time) error {
	if p.deadline != nil {
		p.deadline.Reset(time.Until(due))
	} else {
		p.deadline = time.NewTimer(time.Until(due))
	}
	return nil
}
