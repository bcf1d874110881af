package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const version = "epicycle durable timers, format 1\n"

// checkVersion checks the file that has the format of the directory, or creates it. The server's directory is created
// before that file. So if the file exists and the server's directory does not, the latter was lost, and the server
// would start empty.
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

// writeFile writes a small file atomically.
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
