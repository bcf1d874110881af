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

// opened is the servers of this process, by directory: those that start, run or stop. mu is not held
// while one of them does, so one directory holds up no other one.
var opened struct {
	mu      sync.Mutex
	servers map[string]*Server
	lost    map[string]error // why no server is started in this directory any more
}

// Share is one Open of a directory.
type Share struct {
	*Server
	log *slog.Logger
}

// Open starts the server of dir, or shares the one that this process has. Each Open needs a Close.
// When ctx is done, Open waits no longer. A server that nobody waits for stops when it has started.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Share, error) {
	name, err := prepared(ctx, dir)
	if err == nil {
		var s *Share
		if s, err = open(ctx, name, log); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", dir, err)
}

func open(ctx context.Context, dir string, log *slog.Logger) (*Share, error) {
	for {
		s, before, err := join(dir, log)
		switch {
		case err != nil:
			return nil, err
		case before != nil:
			if err := await(ctx, before.stopped); err != nil {
				return nil, err
			}
			continue
		}
		if err := await(ctx, s.started); err != nil {
			go s.Close()
			return nil, err
		}
		return s, s.failure
	}
}

// join returns a share of the server of a directory, which is made if there is none. If there is one that
// stops, it is returned instead: the next one has to wait for it.
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
		if opened.servers == nil {
			opened.servers = make(map[string]*Server)
		}
		opened.servers[dir] = s
		go s.run()
	case s.stopping:
		return nil, s, nil
	}
	share = &Share{s, log}
	s.shares = append(s.shares, share)
	return share, nil, nil
}

// await waits for c, or until ctx is done.
func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the server does not start in time: %w", ctx.Err())
	}
}

// endTime is how long Close waits for the files to be closed.
const endTime = 5 * time.Second

// Close ends the server if nobody else in this process uses it, and waits until its files are
// closed, but not for a disk that hangs: the next Open waits for that. Another Close of the same share does nothing.
func (s *Share) Close() {
	opened.mu.Lock()
	at := slices.Index(s.shares, s)
	last := at >= 0 && len(s.shares) == 1 && s.running && !s.stopping
	if last {
		s.stopping = true // its log gets what the server says until it has stopped
	} else if at >= 0 && !s.stopping {
		s.shares = slices.Delete(s.shares, at, at+1)
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

// run starts the server. It stops if that fails, or if all have gone who wanted it.
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

// retire stops the server. Then another one can start.
func (s *Server) retire() {
	s.stop()
	opened.mu.Lock()
	defer opened.mu.Unlock()
	delete(opened.servers, s.dir)
	if err := s.unsynced(); err != nil {
		if opened.lost == nil {
			opened.lost = make(map[string]error)
		}
		opened.lost[s.dir] = err
	}
	close(s.stopped)
}

// prepared is prepare, but it does not wait longer than ctx for a file system that does not answer.
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

// prepare makes the directory, and returns a name of it that is always the same.
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
