package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Beside the server's files are the names of the sets that were made. So a server that does not know a
// set any more, since files of it have gone, is not taken for one that never had it.

func (s *Server) setFile(name string) string { return filepath.Join(s.dir, "sets", name) }

// HasSet reports whether a set of that name was made. If not, alike is one whose name differs in case only, or "":
// file systems of macOS and Windows keep both in the same files.
func (s *Server) HasSet(name string) (made bool, alike string, err error) {
	files, err := os.ReadDir(filepath.Dir(s.setFile(name)))
	if errors.Is(err, os.ErrNotExist) {
		return false, "", nil
	}
	for _, f := range files {
		switch {
		case f.Name() == name:
			return true, "", nil
		case strings.EqualFold(f.Name(), name):
			alike = f.Name()
		}
	}
	return false, alike, err
}

// NoteSet notes that a set of that name was made.
func (s *Server) NoteSet(name string) error {
	file := s.setFile(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return writeFile(file, "")
}
