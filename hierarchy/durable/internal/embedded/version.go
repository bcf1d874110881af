package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const version = "epicycle durable timers, format 1\n"

// checkVersion checks the file that says which format the directory has, or makes it. The server's
// directory is made before it, so where the file is, the server would take a missing one for empty.
func checkVersion(dir string) error {
	file := filepath.Join(dir, "version")
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(streams(dir), 0o700); err != nil {
			return err
		}
		return writeFile(file, version)
	case err != nil:
		return err
	case string(data) != version:
		return fmt.Errorf("%w: its file %q says %.60q, and this program knows %.60q", errVersion, "version", data, version)
	}
	if _, err = os.Stat(streams(dir)); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// writeFile writes a small file, whole or not at all.
func writeFile(name, content string) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
