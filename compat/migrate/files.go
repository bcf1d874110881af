package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tree is what goFiles has found.
type tree struct {
	names   []string // Go files
	skipped []skip   // links and nested modules
	roots   []string // the directories that were named
}

// skip is a file or a directory that is left as it is.
type skip struct {
	name string
	kind kind
	why  string
}

// goFiles returns the Go files that paths name, each once.
func goFiles(paths []string) (t tree, err error) {
	for _, path := range paths {
		dir, all := strings.CutSuffix(filepath.ToSlash(path), "/...")
		if path == "..." {
			dir, all = ".", true
		}
		// The file is replaced, so a link to it must not be.
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return t, err
		}
		info, err := os.Stat(dir)
		if err != nil {
			return t, err
		}
		if !info.IsDir() {
			t.names = append(t.names, dir)
			continue
		}
		t.roots = append(t.roots, dir)
		if err := filepath.WalkDir(dir, t.visit(dir, all)); err != nil {
			return t, err
		}
	}
	slices.Sort(t.names)
	t.names = slices.Compact(t.names)
	t.skipped = slices.DeleteFunc(t.skipped, func(s skip) bool {
		return slices.Contains(t.roots, s.name) || slices.Contains(t.names, s.name)
	})
	return t, nil
}

// visit returns the function that adds what is in the directory root, or also below it.
func (t *tree) visit(root string, all bool) fs.WalkDirFunc {
	return func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == root:
			return nil
		case d.IsDir() && (!all || ignored(d.Name())):
			return filepath.SkipDir
		case d.IsDir() && isModule(name):
			t.skipped = append(t.skipped, skip{name, module, "a module of its own: name it to change its files"})
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || startsHidden(d.Name()):
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			t.skipped = append(t.skipped, skip{name, link, "a symbolic link: name it to change the file"})
		case d.Type().IsRegular():
			t.names = append(t.names, name)
		}
		return nil
	}
}

// ignored reports whether a directory is left out: the go command ignores it, too, or it holds other people's code.
func ignored(dir string) bool { return dir == "vendor" || dir == "testdata" || startsHidden(dir) }

// startsHidden reports whether the go command ignores a file or a directory for the first character of its name.
func startsHidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isModule(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && !info.IsDir()
}
