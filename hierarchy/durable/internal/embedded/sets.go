package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// In addition to the server's files, there is a file for each set that was created. So a set that the server no longer
// knows, because its files are missing, is not taken for one that was never created.

func (s *Server) setFile(name string) string { return filepath.Join(s.dir, "sets", name) }

// HasSet reports whether a set of that name was created. If not, alike is the name of a set that differs only in case,
// or "": file systems of macOS and Windows would keep both in the same files.
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

// NoteSet records that a set of that name was created.
func (s *Server) NoteSet(name string) error {
	file := s.setFile(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return writeFile(file, "")
}
