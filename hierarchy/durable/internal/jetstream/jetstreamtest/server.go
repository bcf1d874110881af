// Package jetstreamtest has a NATS server for tests that may answer late, or not at all. It implements only what the
// client needs. All of it runs in goroutines of the test, so it works in a bubble of testing/synctest.
package jetstreamtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// Answer returns what a server answers to a request on a subject. It may block. If it returns "", there is no answer.
type Answer func(subject string) string

// Connect connects to a server until the test ends.
func Connect(t testing.TB, answer Answer) *nats.Conn {
	s := &server{answer: answer, out: make(chan string, 100), ended: make(chan bool), subs: make(map[string]string)}
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.NoReconnect())
	require.NoError(t, err)
	t.Cleanup(func() {
		nc.Close()
		s.running.Wait()
	})
	return nc
}

// InProcessConn implements nats.InProcessConnProvider.
func (s *server) InProcessConn() (client net.Conn, _ error) {
	client, s.conn = net.Pipe()
	s.running.Go(s.write)
	s.running.Go(s.read)
	return client, nil
}

// server is a server for one connection.
type server struct {
	conn    net.Conn
	answer  Answer
	out     chan string
	ended   chan bool         // closed when nothing more is read
	subs    map[string]string // by subject, without its last token
	running sync.WaitGroup
}

func (s *server) write() {
	_, _ = io.WriteString(s.conn, `INFO {"server_id":"test","version":"2.11.0","headers":true,"max_payload":8388608}`+"\r\n")
	for {
		select {
		case line := <-s.out:
			_, _ = io.WriteString(s.conn, line)
		case <-s.ended:
			return
		}
	}
}

func (s *server) read() {
	defer close(s.ended)
	r := bufio.NewReader(s.conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch f := strings.Fields(line); f[0] {
		case "PING":
			s.out <- "PONG\r\n"
		case "SUB":
			s.subs[f[1][:strings.LastIndexByte(f[1], '.')+1]] = f[len(f)-1]
		case "PUB", "HPUB":
			var size int
			_, _ = fmt.Sscan(f[len(f)-1], &size)
			_, _ = io.CopyN(io.Discard, r, int64(size+2))
			if reply := f[2]; len(f) == 4 && f[0] == "PUB" || len(f) == 5 {
				sub := s.subs[reply[:strings.LastIndexByte(reply, '.')+1]]
				s.running.Go(func() { s.respond(f[1], reply, sub) })
			}
		}
	}
}

func (s *server) respond(subject, reply, sub string) {
	if text := s.answer(subject); text != "" {
		s.out <- fmt.Sprintf("MSG %s %s %d\r\n%s\r\n", reply, sub, len(text), text)
	}
}
