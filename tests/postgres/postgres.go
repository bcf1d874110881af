// Package postgres finds and starts PostgreSQL's programs for tests and measurements in other modules. These programs
// refuse to run as root. If the caller is root, they run as the user that Debian's package makes.
package postgres

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
)

// Programs returns the directory of the newest version's programs, or "" if PostgreSQL is not installed.
func Programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// Init makes data the directory of a server. dir must exist; it is given to the server's user. The superuser is
// postgres, who needs no password.
func Init(dir, data string) error {
	if err := own(dir); err != nil {
		return err
	}
	return Run("initdb", "-D", data, "-U", "postgres", "-A", "trust")
}

// Command returns a program of PostgreSQL, as the server's user.
func Command(name string, args ...string) *exec.Cmd {
	return asUser(exec.Command(filepath.Join(Programs(), name), args...))
}

// Run runs a program, and returns an error with its output.
func Run(name string, args ...string) error {
	if out, err := Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}

// URL returns the URL of a database of a server on this machine.
func URL(port int, database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", port, database)
}
