package main

import (
	"context"
	"errors"
	"net"
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
		listener, err := s.listen(n)
		if err != nil {
			return f, err
		}
		defer listener.Close()
		if _, err := c.do(request{Do: "dial", Address: listener.Addr().String(), N: n}); err != nil {
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

// listen serves n connections.
func (s *sessions) listen(n int) (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for id := range n {
			c, err := listener.Accept()
			if err != nil {
				return // the listener was closed, because the client has failed
			}
			s.ended.Go(func() { s.serve(&session{conn: c, id: id}) })
		}
	}()
	return listener, nil
}
