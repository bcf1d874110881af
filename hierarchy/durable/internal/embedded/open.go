package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// opened has the servers of this process, by directory, that are starting, running or stopping. mu is not held while
// one of them starts or stops, so that one directory does not hold up another.
var opened = struct {
	mu      sync.Mutex
	servers map[string]*Server
	lost    map[string]error // by directory: the error because of which no server may be started in it any more
}{servers: make(map[string]*Server), lost: make(map[string]error)}

// Share is one Open of a directory.
type Share struct {
	*Server
	log *slog.Logger
}

// Open starts the server of dir, or shares the one that this process already has. Each Open needs a Close. Open stops
// waiting when ctx is done. A server that nobody waits for is stopped once it has started.
func Open(ctx context.Context, dir string, log *slog.Logger) (s *Share, err error) {
	name, err := prepared(ctx, dir)
	if err == nil {
		s, err = open(ctx, name, log)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return s, nil
}

func open(ctx context.Context, dir string, log *slog.Logger) (*Share, error) {
	for {
		s, before, err := join(dir, log)
		if err != nil {
			return nil, err
		}
		if before == nil {
			if err := await(ctx, s.started); err != nil {
				go s.Close()
				return nil, err
			}
			if s.failure == nil && s.Gone() != nil {
				err := s.Gone()
				s.Close()
				return nil, fmt.Errorf("%w, and has to be closed first", err)
			}
			return s, s.failure
		}
		if err := await(ctx, before.stopped); err != nil {
			return nil, err
		}
	}
}

// join returns a share of the server of a directory, which it creates if there is none. If the server is stopping, join
// returns that server instead, and the next one has to wait for it.
func join(dir string, log *slog.Logger) (share *Share, before *Server, err error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if err := opened.lost[dir]; err != nil {
		return nil, nil, err
	}
	s := opened.servers[dir]
	switch {
	case s == nil:
		s = newServer(dir)
		opened.servers[dir] = s
		go s.run()
	case s.stopping:
		return nil, s, nil
	}
	share = &Share{s, log}
	s.shares = append(s.shares, share)
	return share, nil, nil
}

// await waits until c is closed, or until ctx is done.
func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the server does not start in time: %w", ctx.Err())
	}
}

// endTime limits the wait of Close for the files to be closed.
const endTime = 5 * time.Second

// Close ends the server if no other share of it is open, and waits until its files are closed, for at most endTime, as
// the disk may hang: the next Open waits for the rest. Further calls of Close of the same share do nothing.
func (s *Share) Close() {
	opened.mu.Lock()
	open := slices.Contains(s.shares, s) && !s.stopping
	last := open && len(s.shares) == 1 && s.running
	if last {
		s.stopping = true // the log of this share gets the messages of the server until that has stopped
	} else if open {
		s.shares = slices.DeleteFunc(s.shares, func(other *Share) bool { return other == s })
	}
	opened.mu.Unlock()
	if !last {
		return
	}
	go s.retire()
	select {
	case <-s.stopped:
	case <-time.After(endTime):
	}
}

// run starts the server. It stops the server if the start fails, or if all shares have been closed meanwhile.
func (s *Server) run() {
	s.failure = s.start()
	if s.failure != nil && !errors.Is(s.failure, errInUse) && !errors.Is(s.failure, errVersion) {
		s.failure = s.Because(context.Background(), s.failure)
	}
	opened.mu.Lock()
	s.running = s.failure == nil
	s.stopping = s.failure != nil || len(s.shares) == 0
	stopping := s.stopping
	opened.mu.Unlock()
	if stopping {
		s.retire()
	}
	close(s.started)
}

// retire stops the server, so that another one can start.
func (s *Server) retire() {
	gone := s.anchor != nil && s.anchor.Check() != nil // then the next server has other files
	s.stop()
	opened.mu.Lock()
	defer opened.mu.Unlock()
	delete(opened.servers, s.dir)
	if err := s.unsynced(); err != nil && !gone {
		opened.lost[s.dir] = err
	}
	close(s.stopped)
}

// prepared is prepare, but stops waiting for the file system when ctx is done.
func prepared(ctx context.Context, dir string) (string, error) {
	var name string
	var err error
	done := make(chan struct{})
	go func() {
		name, err = prepare(dir)
		close(done)
	}()
	if err := await(ctx, done); err != nil {
		return "", err
	}
	return name, err
}

// prepare creates the directory, and returns its canonical name.
func prepare(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if what := passing(err.Error()); what != "" {
			err = fmt.Errorf("%s: %w", what, err)
		}
		return "", fmt.Errorf("making the directory: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
