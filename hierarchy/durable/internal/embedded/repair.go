package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A NATS server writes nothing more to a stream once a write has failed, and does not answer. What
// it has in memory, it still shows to readers. So after the first failure the server is ended, and
// it is started again when there is room, or when fewer files are open. After any other failure,
// whenever it comes, it stays ended: what the file system shows need not be on the disk.

const (
	// probeEvery is how often the watcher tries whether there is room again.
	probeEvery = time.Second
	// probeSize is how much room there must be, and probeFiles for how many files: more than the server needs for
	// a stream, as it removes what it has made of one that it can't make.
	probeSize, probeFiles = 4 << 20, 16
	// probeTime is how long an Open that has failed waits for the disk.
	probeTime = 10 * time.Second
)

// wasWriteError reports whether a line of the server's log says that a write has failed.
func wasWriteError(line string) bool {
	return strings.Contains(strings.ToLower(line), "critical write error")
}

// lacksRoom reports whether there was no room for what was to be written. After a failed sync, what was
// written before may be lost, whatever the reason.
func lacksRoom(line string) bool {
	for _, text := range []string{"no space left", "not enough space", "disk quota exceeded", "file too large"} {
		if strings.Contains(line, text) {
			return !strings.Contains(line, ": sync ")
		}
	}
	return false
}

// Problem returns why the server does not work, or nil.
func (s *Server) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return context.Cause(s.healthy)
}

// ProblemSince returns since when the server has a problem, and Problem.
func (s *Server) ProblemSince() (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failedAt, context.Cause(s.healthy)
}

// OnProblem has f be called with the problem that the server has, or with its next one, unless stop
// is called before.
func (s *Server) OnProblem(f func(error)) (stop func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	healthy := s.healthy
	return context.AfterFunc(healthy, func() { f(context.Cause(healthy)) })
}

// unsynced returns what may not be on the disk though the file system shows it, or is nil. Once it is
// not nil, it stays, and the server is not started again in this process.
func (s *Server) unsynced() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// lacksFiles reports whether too many files are open.
func lacksFiles(line string) bool { return strings.Contains(line, "too many open files") }

// passing returns what keeps the server from writing if it may pass and nothing is lost by it, or is "".
func passing(line string) string {
	switch {
	case lacksRoom(line):
		return "the disk is full"
	case lacksFiles(line):
		return "too many files are open"
	}
	return ""
}

// failed is called with a line of the server's log, inside the server.
func (s *Server) failed(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := passing(line)
	switch {
	case s.lost != nil:
		return
	case corruptOf(line) != "":
		s.noteCorrupt(corruptOf(line), line)
		return
	}
	if s.healthy.Err() == nil {
		s.failedAt = time.Now()
	}
	switch {
	case what == "":
		s.lost = fmt.Errorf("writing has failed, and the timers stay unavailable until the process starts again: %s", line)
		s.fail(s.lost)
		if context.Cause(s.healthy) != s.lost { // there was no room already
			s.healthy, s.fail = context.WithCancelCause(context.Background())
			s.fail(s.lost)
		}
	default:
		s.fail(fmt.Errorf("%s: %s", what, line))
	}
	s.failures.Set()
}

// watch ends the server after a failure, and starts it again when it can write.
func (s *Server) watch() {
	defer close(s.watched)
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

// repair is false if the server stays ended.
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
	s.tell(slog.LevelError, "durable: writing has failed, and the timers stay unavailable until the process starts again",
		"dir", s.dir, "err", s.Problem())
	return false
}

// again starts the server again. If that fails, it is ended.
func (s *Server) again() bool {
	s.mu.Lock()
	if s.lost == nil { // what fails from now on is another problem
		s.healthy, s.fail = context.WithCancelCause(context.Background())
	}
	s.mu.Unlock()
	err := s.begin()
	if err == nil {
		err = s.unsynced()
	}
	if err == nil {
		return true
	}
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(fmt.Errorf("the server does not start again: %w", err))
	return false
}

// probe fails if there is no room for some files.
func (s *Server) probe() (err error) {
	s.probing.Lock()
	defer s.probing.Unlock()
	dir := filepath.Join(s.dir, "probe")
	if err := os.RemoveAll(dir); err != nil { // a process may have ended in the middle
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

// Because returns why the server could not do something, with what is wrong with the disk, if anything is: a server says
// only what it could not do. A disk that hangs is not waited for.
func (s *Server) Because(ctx context.Context, err error) error {
	if problem := s.Problem(); problem != nil {
		return problem
	}
	what := passing(err.Error())
	if what == "" {
		what = s.passingNow(ctx)
	}
	if what == "" {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// passingNow returns what keeps files from being written now, if it may pass, or "".
func (s *Server) passingNow(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- s.probe() }()
	select {
	case err := <-failed:
		if err != nil {
			return passing(err.Error())
		}
	case <-ctx.Done():
	}
	return ""
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
	conn, err := server.InProcessConn()
	if err != nil {
		return nil, err
	}
	return newPipe(conn), nil
}
