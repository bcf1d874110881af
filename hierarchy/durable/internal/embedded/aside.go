package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded/blocks"
)

// Damage in one stream must not hold up the others. If the files of a stream would send the server into an endless
// loop, their directory is moved out of the server's into one that nothing changes, from where it can be salvaged. For
// the server, the stream is then missing.

func account(dir string) string     { return filepath.Join(streams(dir), "jetstream", "$G", "streams") }
func asideDir(dir string) string    { return filepath.Join(dir, "damaged") }
func aside(dir, name string) string { return filepath.Join(asideDir(dir), name) }

// setAside moves the streams away whose files would make the server loop, or in which the server has found damage.
func (s *Server) setAside() error {
	entries, err := os.ReadDir(account(s.dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		from := filepath.Join(account(s.dir), e.Name())
		why := s.corruptStream(e.Name())
		if why == nil {
			why = blocks.Check(from)
		}
		if why == nil {
			continue
		}
		if !errors.Is(why, blocks.ErrSequence) && !errors.Is(why, ErrCorrupt) {
			return why
		}
		if err := s.moveAside(e.Name()); err != nil {
			return err
		}
		s.tell(slog.LevelError, "durable: files are damaged, and were set aside", "dir", s.dir, "stream", e.Name(),
			"to", aside(s.dir, e.Name()), "err", why)
	}
	return nil
}

// moveAside moves the directory of a stream away. If that was done for the stream before, the earlier directory stays.
func (s *Server) moveAside(name string) error {
	if err := os.MkdirAll(asideDir(s.dir), 0o700); err != nil {
		return err
	}
	to := aside(s.dir, name)
	for n := 2; ; n++ {
		if _, err := os.Stat(to); errors.Is(err, os.ErrNotExist) {
			return os.Rename(filepath.Join(account(s.dir), name), to)
		}
		to = fmt.Sprintf("%s.%d", aside(s.dir, name), n)
	}
}

// Aside returns an error if a stream is missing because it was set aside as damaged, otherwise nil.
func (s *Server) Aside(stream string) error {
	if _, err := os.Stat(filepath.Join(account(s.dir), stream)); err == nil {
		return nil
	}
	to := aside(s.dir, stream)
	if _, err := os.Stat(to); err != nil {
		return nil
	}
	err := fmt.Errorf("%w, and were set aside: %s", ErrCorrupt, to)
	if why := blocks.Check(to); why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return err
}

// corruptOf returns the stream in which the server has found damage according to a line of its log, or "".
func corruptOf(line string) string {
	if !strings.Contains(line, "malformed or corrupt message") {
		return ""
	}
	_, rest, _ := strings.Cut(line, " > ")
	if name, _, ok := strings.Cut(rest, "'"); ok {
		return name
	}
	return ""
}

// corruptStream returns the damage that the server has found in a stream, or nil.
func (s *Server) corruptStream(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.corrupt[name]
}

// damaged reports whether the server has found damage.
func (s *Server) damaged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.corrupt) > 0
}

// noteCorrupt records damage that the server has found, and calls the functions of OnCorrupt. The server continues with
// the other streams. mu must be locked.
func (s *Server) noteCorrupt(stream, line string) {
	if s.corrupt[stream] != nil {
		return
	}
	s.corrupt[stream] = fmt.Errorf("%w: %s", ErrCorrupt, line)
	for f := range s.onCorrupt {
		go (*f)(stream, s.corrupt[stream])
	}
}

// OnCorrupt calls f with each stream in which the server has found damage, and with each in which it finds some later,
// until stop is called.
func (s *Server) OnCorrupt(f func(stream string, err error)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCorrupt[&f] = true
	for stream, err := range s.corrupt {
		go f(stream, err)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.onCorrupt, &f)
	}
}
