package main

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// tcpProgram is a server of real connections.
func tcpProgram() program {
	return program{
		name:  "tcp",
		what:  "%s TCP connections with an idle timeout",
		unit:  "message and its answer, at the server",
		each:  "connection",
		late:  "how late idle connections are closed",
		full:  size{N: 20_000, Rounds: 4, Lifetime: 4 * time.Second},
		quick: size{N: 200, Rounds: 2, Lifetime: time.Second},
		work:  func(s size) int { return s.N * s.Rounds },
		ways:  idleWays(runTCP),
	}
}

// runTCP connects, sends messages on all connections, and then none until all are closed.
func runTCP(way newTimeouts) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		n := mostConnections(size.N)
		c, err := startClient(ctx)
		if err != nil {
			return f, err
		}
		defer c.close()
		s, err := newSessions(size.Lifetime, n, way)
		if err != nil {
			return f, err
		}
		defer s.stop()
		before := liveBytes()
		addresses, stop, err := s.listen()
		if err != nil {
			return f, err
		}
		defer stop()
		if _, err := c.do(request{Do: "dial", Addresses: addresses, N: n}); err != nil {
			return f, err
		}
		if _, err := c.do(request{Do: "echo", Rounds: 1}); err != nil {
			return f, err
		}
		f.each(n, before)
		m := newMeter()
		done, err := c.do(request{Do: "echo", Rounds: size.Rounds})
		m.stop(&f, done.N)
		if err != nil {
			return f, err
		}
		err = s.late.wait(ctx, &f)
		s.ended.Wait()
		return f, errors.Join(err, s.failure())
	}
}

// listeners is how many addresses a server has. To find a free port for so many connections to one address takes the
// system much longer.
const listeners = 8

// listen serves connections until stop is called.
func (s *sessions) listen() (addresses []string, stop func(), err error) {
	var all []net.Listener
	var next atomic.Int64
	stop = func() {
		for _, l := range all {
			l.Close()
		}
	}
	for range listeners {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, err
		}
		all, addresses = append(all, l), append(addresses, l.Addr().String())
		go s.accept(l, &next)
	}
	return addresses, stop, nil
}

// accept serves the connections of a listener. next is the number of the next one.
func (s *sessions) accept(l net.Listener, next *atomic.Int64) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		s.ended.Go(func() { s.serve(&session{conn: c, id: int(next.Add(1))}) })
	}
}
