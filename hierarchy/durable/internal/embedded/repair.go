package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A NATS server writes nothing more to a stream once a write has failed, and does not answer. What
// it has in memory, it still shows to readers. So after the first failure the server is ended, and
// it is started again when there is room. After another failure than for lack of room, it stays
// ended: what the file system shows need not be on the disk.

const (
	// probeEvery is how often the watcher tries whether there is room again.
	probeEvery = time.Second
	// probeSize is how much room there must be.
	probeSize = 4 << 20
)

// wasWriteError tells whether a line of the server's log says that a write has failed.
func wasWriteError(line string) bool {
	return strings.Contains(strings.ToLower(line), "critical write error")
}

// lacksRoom tells whether there was no room for what was to be written. After a failed sync, what was
// written before may be lost, whatever the reason.
func lacksRoom(line string) bool {
	for _, text := range []string{"no space left", "not enough space", "disk quota exceeded", "file too large"} {
		if strings.Contains(line, text) {
			return !strings.Contains(line, ": sync ")
		}
	}
	return false
}

// Problem says why the server does not work, or nil.
func (s *Server) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// failed is called with a line of the server's log, inside the server.
func (s *Server) failed(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem != nil {
		return
	}
	s.problem = fmt.Errorf("writing to %s has failed: %s", s.dir, line)
	if lacksRoom(line) {
		s.problem = fmt.Errorf("the disk is full: %s", line)
	}
	s.failures <- lacksRoom(line) // it has room: while there is a problem, there is no second one
}

// watch ends the server after a failure, and starts it again when there is room.
func (s *Server) watch() {
	defer close(s.watched)
	for {
		select {
		case <-s.quit:
			return
		case room := <-s.failures:
			if !s.repair(room) {
				<-s.quit
				return
			}
		}
	}
}

// repair is false if the server stays ended.
func (s *Server) repair(room bool) bool {
	s.end()
	if !room {
		s.log.Error("durable: writing has failed, and the timers stay unavailable until the process starts again",
			"dir", s.dir, "err", s.Problem())
		return false
	}
	s.log.Error("durable: the disk is full", "dir", s.dir, "err", s.Problem())
	for {
		select {
		case <-s.quit:
			return false
		case <-time.After(probeEvery):
		}
		if s.probe() != nil {
			continue
		}
		s.mu.Lock()
		s.problem = nil
		s.mu.Unlock()
		err := s.begin()
		if err == nil {
			s.log.Info("durable: there is room on the disk again", "dir", s.dir)
			return true
		}
		s.end()
		s.mu.Lock()
		if s.problem = fmt.Errorf("the server does not start again: %w", err); len(s.failures) > 0 {
			<-s.failures
		}
		s.mu.Unlock()
	}
}

// probe fails if there is no room for a file.
func (s *Server) probe() error {
	name := filepath.Join(s.dir, "probe")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(name))
}

// errEnded is what those get who connect to a server that has ended.
var errEnded = errors.New("the server has ended")

// InProcessConn implements nats.InProcessConnProvider, so that the connection goes on with the
// server that was started again.
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	if server == nil {
		return nil, errEnded
	}
	return server.InProcessConn()
}
