package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// wasWriteError reports whether a line of the server's log means that a write has failed.
func wasWriteError(line string) bool {
	return strings.Contains(strings.ToLower(line), "critical write error")
}

// lacksRoom reports whether a line of the server's log means that a write failed for lack of room. A failed sync does
// not count: whatever its reason, earlier writes may be lost.
func lacksRoom(line string) bool {
	texts := []string{"no space left", "not enough space", "disk quota exceeded", "file too large"}
	found := func(text string) bool { return strings.Contains(line, text) }
	return slices.ContainsFunc(texts, found) && !found(": sync ")
}

// Problem returns the error because of which the server does not work, or nil.
func (s *Server) Problem() error {
	_, err := s.ProblemSince()
	return err
}

// ProblemSince returns the time since which the server has had a problem, and the problem.
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

// unsynced returns an error if data may not be on the disk although the file system shows it, or nil. Once that has
// happened, it returns the error for ever, and the server is not started again in this process.
func (s *Server) unsynced() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// lacksFiles reports whether a line of the server's log means that too many files are open.
func lacksFiles(line string) bool { return strings.Contains(line, "too many open files") }

// passing returns what keeps the server from writing, if that is temporary and loses nothing, otherwise "".
func passing(line string) string {
	switch {
	case lacksRoom(line):
		return "the disk is full"
	case lacksFiles(line):
		return "too many files are open"
	}
	return ""
}

// Because returns the problem of the server if it has one. Otherwise it returns err, with what is wrong with the disk,
// if anything: the server reports only which operation failed. Because does not wait for a disk that hangs.
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

// passingNow tries to write files, and returns what prevents that, if it is temporary, otherwise "".
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
