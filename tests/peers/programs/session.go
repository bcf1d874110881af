package main

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const messageSize = 16

// conn is what a session needs of a connection.
type conn interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
}

// session is a connection at the server. It is closed when no message has come for some time.
type session struct {
	conn conn
	id   int
	last atomic.Int64 // when the last message came, since the server's start
	text [messageSize]byte

	// One of these, or none.
	timer *time.Timer
	idle  *hierarchy.Idle
}

// timeouts is a way to close idle sessions.
type timeouts interface {
	begin(s *session) error
	touch(s *session) error
	stop()
}

// sessions is a server of sessions, each of which answers messages with the same message.
type sessions struct {
	timeouts
	start time.Time
	idle  time.Duration
	late  *lateness
	ended sync.WaitGroup

	mu     sync.Mutex
	failed error // guarded by mu
}

func newSessions(idle time.Duration, n int, way newTimeouts) (*sessions, error) {
	s := &sessions{start: time.Now(), idle: idle, late: newLateness(n)}
	var err error
	s.timeouts, err = way(s)
	return s, err
}

// newTimeouts makes a way to close idle sessions.
type newTimeouts func(*sessions) (timeouts, error)

// serve serves a connection until it is closed.
func (s *sessions) serve(c *session) {
	c.last.Store(int64(time.Since(s.start)))
	err := s.begin(c)
	for err == nil {
		var n int
		if n, err = c.conn.Read(c.text[:]); err != nil {
			break
		}
		c.last.Store(int64(time.Since(s.start)))
		if err = s.touch(c); err == nil {
			_, err = c.conn.Write(c.text[:n])
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.expire(c)
	} else if c.last.Load() >= 0 { // not what expire has closed
		s.fail(err)
	}
}

// expire closes an idle session.
func (s *sessions) expire(c *session) {
	due := time.Duration(c.last.Swap(-1)) + s.idle
	s.late.add(time.Since(s.start) - due)
	c.conn.Close()
}

func (s *sessions) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = errors.Join(s.failed, err)
}

// failure is why a session has ended before its time, if one has.
func (s *sessions) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}
