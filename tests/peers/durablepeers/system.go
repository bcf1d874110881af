package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// system is one of the systems that are compared: its description, its servers, and the way to open it.
type system struct {
	Name     string
	Settings string // text for the page: all settings that are not the default, and the defaults that matter
	Answer   string // text for the page: where a timer is stored when a caller has its answer
	// Embedded means that there is no server, so callers are in the worker's process.
	Embedded bool
	Needs    []program
	// Servers returns the servers to start, with files in dir.
	Servers func(dir string) ([]serverSpec, error)
	// Prepare is called once, when the servers are up. It may be nil.
	Prepare func(ctx context.Context, p place) error
	// Open opens the system in this process. handle is nil in a caller. In a worker it is called for each timer that is
	// due, by any goroutine, and cannot fail.
	Open func(ctx context.Context, p place, handle func(key string)) (store, error)
}

// place says where the files and servers of a system are.
type place struct {
	Dir   string   // directory of an embedded system
	Addrs []string // addresses of the servers, in the order of Servers
}

// store is a system that is open. A method returns true if its operation was carried out. Then the timer was still
// pending, and its handler had not been called.
type store interface {
	Schedule(ctx context.Context, key string, at time.Time, value []byte) error
	// Move makes the timer due at the time at. It is given the value again for systems that cannot move a timer, and
	// replace it by another timer.
	Move(ctx context.Context, key string, at time.Time, value []byte) (bool, error)
	Cancel(ctx context.Context, key string) (bool, error)
	Pending(ctx context.Context) (int, error)
	Close() error
}

// systems returns all contenders, in the order of the page.
func systems() []system {
	return []system{
		durableDir(), durableServer(1), durableServer(8),
		asynqOn("everysec"), asynqOn("always"),
		riverOnPostgres(),
		dqOn(50), dqOn(0),
		natsSchedules(false), natsSchedules(true),
	}
}

// named returns the system with a name.
func named(name string) (system, error) {
	for _, s := range systems() {
		if s.Name == name {
			return s, nil
		}
	}
	return system{}, fmt.Errorf("there is no system %q", name)
}

// program is a program of Debian.
type program struct {
	find    func() string // returns the program's path, or "" if it is not installed
	Package string
}

func onPath(name, pkg string) program {
	return program{func() string {
		path, err := exec.LookPath(name)
		if err != nil {
			return ""
		}
		return path
	}, pkg}
}

// missing returns the packages that a system needs and that are not installed.
func (s system) missing() (packages []string) {
	for _, p := range s.Needs {
		if p.find() == "" {
			packages = append(packages, p.Package)
		}
	}
	return packages
}

// keyOf returns the key of timer i. indexOf returns the i of such a key.
func keyOf(i uint32) string { return fmt.Sprintf("k%09d", i) }

func indexOf(key string) (uint32, error) {
	i, err := strconv.ParseUint(strings.TrimPrefix(key, "k"), 10, 32)
	return uint32(i), err
}

const valueSize = 100

// valueOf returns the value of a key, which begins with the key: some systems call a handler with only the value.
func valueOf(key string) []byte {
	return []byte(key + strings.Repeat("v", valueSize-len(key)))
}

// keyIn returns the key in a value.
func keyIn(value []byte) string {
	const size = len("k000000000")
	return string(value[:min(size, len(value))])
}

// inDir makes a directory and returns its name.
func inDir(path string) (string, error) { return path, os.MkdirAll(path, 0o700) }
