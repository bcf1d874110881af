package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// wasWriteError reports whether a line of the server's log says that a write has failed.
func wasWriteError(line string) bool {
	return strings.Contains(strings.ToLower(line), "critical write error")
}

// lacksRoom reports whether there was no room for what was to be written. After a failed sync, what was
// written before may be lost, whatever the reason.
func lacksRoom(line string) bool {
	texts := []string{"no space left", "not enough space", "disk quota exceeded", "file too large"}
	found := func(text string) bool { return strings.Contains(line, text) }
	return slices.ContainsFunc(texts, found) && !found(": sync ")
}

// Problem returns why the server does not work, or nil.
func (s *Server) Problem() error {
	_, err := s.ProblemSince()
	return err
}

// ProblemSince returns since when the server has a problem, and Problem.
func (s *Server) ProblemSince() (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failedAt, context.Cause(s.healthy)
}

// OnProblem calls f with the problem that the server has, or with its next one, unless stop is called before.
func (s *Server) OnProblem(f func(error)) (stop func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	healthy := s.healthy
	return context.AfterFunc(healthy, func() { f(context.Cause(healthy)) })
}

// unsynced returns why something may not be on the disk though the file system shows it, or nil. Once it is
// not nil, it stays, and the server is not started again in this process.
func (s *Server) unsynced() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// lacksFiles reports whether too many files are open.
func lacksFiles(line string) bool { return strings.Contains(line, "too many open files") }

// passing returns what keeps the server from writing if that may pass and loses nothing, else "".
func passing(line string) string {
	switch {
	case lacksRoom(line):
		return "the disk is full"
	case lacksFiles(line):
		return "too many files are open"
	}
	return ""
}

// Because returns the problem of the server if it has one. Otherwise it returns err, with what is wrong with the
// disk, if anything: the server reports only what it could not do. Because does not wait for a disk that hangs.
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

// passingNow returns what keeps files from being written now if that may pass, else "".
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
