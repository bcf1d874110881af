package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// goFiles returns the Go files that paths name.
func goFiles(paths []string) (names []string, err error) {
	for _, path := range paths {
		dir, all := strings.CutSuffix(filepath.ToSlash(path), "/...")
		if path == "..." {
			dir, all = ".", true
		}
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			names = append(names, path)
			continue
		}
		err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != dir && (!all || skipped(d.Name())):
				return filepath.SkipDir
			case d.Type().IsRegular() && strings.HasSuffix(name, ".go"):
				names = append(names, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// skipped reports whether a directory is left out: the go command ignores it, too, or the directory holds other
// people's code.
func skipped(dir string) bool {
	return dir == "vendor" || dir == "testdata" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}
