package embedded

import (
	"errors"
	"os"
	"path/filepath"
)

// Beside the server's files are the names of the sets that were made. So a server that does not know a
// set any more, since files of it have gone, is not taken for one that never had it.

func (s *Server) setFile(name string) string { return filepath.Join(s.dir, "sets", name) }

// HasSet tells whether a set of that name was made.
func (s *Server) HasSet(name string) (bool, error) {
	_, err := os.Stat(s.setFile(name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// NoteSet notes that a set of that name was made.
func (s *Server) NoteSet(name string) error {
	file := s.setFile(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return writeFile(file, "")
}
