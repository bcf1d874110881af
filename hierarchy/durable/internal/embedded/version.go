package embedded

import (
	"errors"
	"fmt"
	"os"
)

const version = "epicycle durable timers, format 1\n"

// checkVersion checks the file that says which format the directory has, or makes it.
func checkVersion(file string) error {
	switch data, err := os.ReadFile(file); {
	case errors.Is(err, os.ErrNotExist):
		return writeFile(file, version)
	case err != nil:
		return err
	case string(data) != version:
		return fmt.Errorf("%w: its file %q says %.60q, and this program knows %.60q", ErrVersion, "version", data, version)
	}
	return nil
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
