package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"
)

// A NATS server writes nothing more to a stream once a write has failed, and does not answer, but it still shows
// readers what it has in memory. So after the first failure the server is ended. It is started again when there is
// room, or when fewer files are open. After any other failure, at any time, it is not started again: what the file
// system shows need not be on the disk.

const (
	// probeEvery is how often the watcher checks whether there is room again.
	probeEvery = time.Second
	// probeSize is the number of bytes that must be free. A probe writes them as probeFiles files. Both exceed what the
	// server needs to create a stream, because a server that can't create a stream completely removes what it has
	// written of it.
	probeSize, probeFiles = 4 << 20, 16
	// probeTime limits the wait of an Open that has failed for the result of a probe.
	probeTime = 10 * time.Second
)

const lostText = "writing has failed, and the timers stay unavailable until the process starts again"

// failed is called, by the server, with a line of its log.
func (s *Server) failed(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what, stream := passing(line), corruptOf(line)
	switch {
	case s.lost != nil:
		return
	case stream != "":
		s.noteCorrupt(stream, line)
		return
	}
	failed := s.healthy.Err() != nil
	if !failed {
		s.failedAt = time.Now()
	}
	if what == "" {
		if failed { // the earlier failure was lack of room, which is not the problem any more
			s.healthy, s.fail = context.WithCancelCause(context.Background())
		}
		s.lost = fmt.Errorf("%s: %s", lostText, line)
		s.fail(s.lost)
	} else {
		s.fail(fmt.Errorf("%s: %s", what, line))
	}
	s.failures.Set()
}

// watch ends the server after a failure, and starts it again when it can write.
func (s *Server) watch() {
	for {
		select {
		case <-s.quit:
			return
		case <-s.failures:
		}
		if s.Problem() != nil && !s.repair() {
			<-s.quit
			return
		}
	}
}

// repair ends the server and starts it again when it can write. It reports false if the server is not started again.
func (s *Server) repair() bool {
	s.end()
	err := s.Problem()
	if what := passing(err.Error()); what != "" {
		s.tell(slog.LevelError, "durable: "+what, "dir", s.dir, "err", err)
	}
	for s.unsynced() == nil {
		select {
		case <-s.quit:
			return false
		case <-time.After(probeEvery):
		}
		if s.probe() == nil && s.again() {
			s.tell(slog.LevelInfo, "durable: the directory can be written again", "dir", s.dir)
			return true
		}
	}
	s.tell(slog.LevelError, "durable: "+lostText, "dir", s.dir, "err", s.Problem())
	return false
}

// again starts the server again. If that fails, it ends the server. It reports whether the server runs.
func (s *Server) again() bool {
	s.mu.Lock()
	if s.lost == nil { // so that failures from now on count as another problem
		s.healthy, s.fail = context.WithCancelCause(context.Background())
	}
	s.mu.Unlock()
	err := s.begin()
	if err = cmp.Or(err, s.unsynced()); err == nil {
		return true
	}
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(fmt.Errorf("the server does not start again: %w", err))
	return false
}

// probe returns an error if there is no room for some files.
func (s *Server) probe() (err error) {
	s.probing.Lock()
	defer s.probing.Unlock()
	dir := filepath.Join(s.dir, "probe")
	if err := os.RemoveAll(dir); err != nil { // a process may have ended during a probe
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for range probeFiles {
		f, err := os.CreateTemp(dir, "")
		if err == nil {
			_, err = f.Write(make([]byte, probeSize/probeFiles))
			err = errors.Join(err, f.Sync(), f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// InProcessConn implements nats.InProcessConnProvider, so that the connection reconnects to the server when that was
// started again.
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	if server == nil {
		return nil, errors.New("the server has ended")
	}
	conn, err := server.InProcessConn()
	if err != nil {
		return nil, err
	}
	return newPipe(conn), nil
}
