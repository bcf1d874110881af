package salvage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

// files has the files of the log of a name.
type files struct {
	segments []string
	mark     string // the file with the mark
}

// logsDir is the directory of the logs in one that Config.Dir names.
const logsDir = "logs"

// list finds the logs in a directory, by name.
func list(dir string) (map[string]*files, error) {
	entries, err := os.ReadDir(filepath.Join(dir, logsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	logs := make(map[string]*files)
	for _, e := range entries {
		name, isMark := strings.CutSuffix(e.Name(), filelog.MarkSuffix)
		if logs[name] == nil && (isMark || e.IsDir()) {
			if logs[name], err = filesOf(filepath.Join(dir, logsDir, name)); err != nil {
				return nil, err
			}
		}
	}
	return logs, nil
}

// filesOf returns the files of a log.
func filesOf(dir string) (*files, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l := &files{mark: dir + filelog.MarkSuffix}
	for _, e := range entries {
		if filelog.IsSegment(e.Name()) {
			l.segments = append(l.segments, filepath.Join(dir, e.Name()))
		}
	}
	return l, nil
}

// ReadFiles is Read for segments of logs, or copies of them. Those in one directory belong to one log. If that directory
// is not where a log has its segments, the log has no name.
func ReadFiles(paths []string, name string, f func(*Log) error) error {
	byDir, err := byDir(paths)
	if err != nil {
		return err
	}
	found := false
	for dir, segments := range byDir {
		root, of := placed(dir)
		if root != "" && inUse(filepath.Join(root, "lock")) {
			return fmt.Errorf("%s: %w", root, errInUse)
		}
		if name != "" && of != name {
			continue
		}
		found = true
		if err := readLog(of, &files{segments, dir + filelog.MarkSuffix}, f); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%w: %q", errNoName, name)
	}
	return nil
}

// placed returns the directory and the name of the log that has its segments there, or "".
func placed(dir string) (root, name string) {
	if filepath.Base(filepath.Dir(dir)) != logsDir {
		return "", ""
	}
	return filepath.Dir(filepath.Dir(dir)), filepath.Base(dir)
}

// byDir returns the files by their directories.
func byDir(paths []string) (map[string][]string, error) {
	if len(paths) == 0 {
		return nil, errNoFiles
	}
	dirs := make(map[string][]string)
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			return nil, fmt.Errorf("%s: %w", path, errDirectory)
		}
		dir, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		dirs[dir] = append(dirs[dir], path)
	}
	return dirs, nil
}
