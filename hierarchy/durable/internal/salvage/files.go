package salvage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ReadFiles is Read for files of logs, or copies of them. Files in one directory belong to one log. If the directory
// does not have the name that the server gave it, the partition is taken from the frames.
func ReadFiles(files []string, name string, f func(*Log) error) error {
	byDir, err := filesByDir(files)
	if err != nil {
		return err
	}
	names := make(map[string]*streams)
	var strays [][]string
	for dir, some := range byDir {
		stream, err := filepath.Abs(filepath.Dir(dir))
		if err != nil {
			return err
		}
		root := filepath.Join(stream, "..", "..", "..", "..", "..")
		if inUse(filepath.Join(root, "lock")) {
			return fmt.Errorf("%s: %w", root, errInUse)
		}
		if !add(names, stream, some) {
			strays = append(strays, some)
		}
	}
	if len(strays) > 0 {
		slices.SortFunc(strays, slices.Compare)
		for at, some := range strays {
			slices.Sort(some)
			streamsOf(names, "").logs[at] = some
		}
	}
	for _, s := range names {
		s.some = true
	}
	if name != "" && names[name] == nil {
		return noName(names, name)
	}
	return readNames(names, name, f)
}

// filesByDir returns the files by their directories.
func filesByDir(files []string) (map[string][]string, error) {
	if len(files) == 0 {
		return nil, errNoFiles
	}
	byDir := make(map[string][]string)
	for _, file := range files {
		if info, err := os.Stat(file); err != nil {
			return nil, err
		} else if info.IsDir() {
			return nil, fmt.Errorf("%s: %w", file, errDirectory)
		}
		dir := filepath.Dir(file)
		byDir[dir] = append(byDir[dir], file)
	}
	return byDir, nil
}
