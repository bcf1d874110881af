package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// ours is a module of this repository.
type ours struct {
	dir  string // below the top of the repository, with slashes; empty for the top
	file *modfile.File
}

func (m *ours) path() string { return m.file.Module.Mod.Path }

// tag is the name that the go command looks for: a module below the top has its directory before the version.
func (m *ours) tag(version string) string { return path.Join(m.dir, version) }

// find returns the modules that are published: all but those that only test others or make releases.
func find(repo string) ([]*ours, error) {
	listed, err := git(repo, "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var all []*ours
	for _, name := range strings.Fields(listed) {
		if strings.HasPrefix(name, "tests/") || strings.HasPrefix(name, ".ci/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(repo, name))
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return nil, err
		}
		dir := strings.TrimSuffix(strings.TrimSuffix(name, "go.mod"), "/")
		all = append(all, &ours{dir, file})
	}
	return all, nil
}

// order returns the modules so that each comes after those that it requires, whose sums it needs.
func order(all []*ours) ([]*ours, error) {
	byPath := make(map[string]*ours)
	for _, m := range all {
		byPath[m.path()] = m
	}
	var ordered []*ours
	const begun, done = 1, 2
	state := make(map[*ours]int)
	var visit func(m *ours) error
	visit = func(m *ours) error {
		switch state[m] {
		case begun:
			return fmt.Errorf("%s requires itself", m.path())
		case done:
			return nil
		}
		state[m] = begun
		for _, r := range m.file.Require {
			if other, ok := byPath[r.Mod.Path]; ok {
				if err := visit(other); err != nil {
					return err
				}
			}
		}
		state[m] = done
		ordered = append(ordered, m)
		return nil
	}
	for _, m := range all {
		if err := visit(m); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}
