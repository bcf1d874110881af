package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
)

// A program about a library that imports package time is built twice: with the library, and with a copy of it whose
// imports the migrate command has changed to compat/time. Nothing else differs.
const ourTime = "compat/time"

// libraryWays are the two ways of such a program.
func libraryWays(library string, run func(context.Context, size) (result, error)) []way {
	of := func(copied bool) func(context.Context, size) (result, error) {
		return func(ctx context.Context, s size) (result, error) {
			if isCopied(library) != copied {
				return result{}, fmt.Errorf("%w: %s", errWrongCopy, library)
			}
			return run(ctx, s)
		}
	}
	return []way{{"package time", false, of(false)}, {ourTime, true, of(true)}}
}

var errWrongCopy = errors.New("this process has the other copy of the library")

// isCopied reports whether this process was built with a copy of the library.
func isCopied(library string) bool {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == library {
			return m.Replace != nil
		}
	}
	return false
}

// copies are the programs that were built with copies, in a temporary folder.
type copies struct {
	mu  sync.Mutex
	dir string            // guarded by mu
	of  map[string]string // by library; guarded by mu
}

var built = copies{of: map[string]string{}}

// with returns the path of this program, built with a copy of a library.
func (c *copies) with(ctx context.Context, library string) (path string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path, ok := c.of[library]; ok {
		return path, nil
	}
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "programs"); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(c.dir, filepath.Base(library))
	if err := build(ctx, library, dir); err != nil {
		return "", err
	}
	c.of[library] = filepath.Join(dir, "program")
	return c.of[library], nil
}

// remove removes the temporary folder.
func (c *copies) remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir := c.dir
	c.dir, c.of = "", map[string]string{}
	return os.RemoveAll(dir)
}

// build copies the library, changes its imports, and builds this program with it into dir.
func build(ctx context.Context, library, dir string) error {
	const here, us = "github.com/epicycle-go/epicycle/tests/peers", "github.com/epicycle-go/epicycle"
	list, err := command(ctx, "list", "-m", "-f", "{{.Dir}}", library, here)
	if err != nil {
		return err
	}
	source, module, _ := strings.Cut(strings.TrimSpace(list), "\n")
	copied, mod := filepath.Join(dir, "copy"), filepath.Join(dir, "go.mod")
	if err := copyModule(copied, source); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"run", us + "/compat/migrate", "-only", "time", copied + "/..."},
		{"mod", "edit", "-replace", library + "=" + copied, mod},
		{"build", "-modfile", mod, "-o", filepath.Join(dir, "program"), here + "/programs"},
	} {
		if _, err := command(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// copyModule copies a module, whose files are read-only where it comes from.
func copyModule(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = os.Chmod(path, 0o600)
		}
		return err
	})
}

// command runs the go command and returns what it has printed.
func command(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, last(out))
	}
	return string(out), nil
}
