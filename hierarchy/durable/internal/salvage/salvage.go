package salvage

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// The errors of Read and ReadFiles. They are wrapped.
var (
	errInUse     = errors.New("the directory is in use by another process")
	errNoLogs    = errors.New("the directory has no logs of durable timers")
	errDirectory = errors.New("it is a directory, and there are other arguments")
	errNoFiles   = errors.New("there is nothing to read")
	errNoName    = errors.New("the directory has no timers of that name")
)

// Log is what could be read of one log.
type Log struct {
	Name        string
	Partition   int
	Frames      int
	First, Last uint64   // the numbers of the first and the last frame
	Problems    []string // what is wrong, in words
	Timers      []*Timer // by key
	Lost        []string // the keys of timers whose values are missing
}

// Read reads the logs of a directory, or only those of a name, and calls f with each.
func Read(dir, name string, f func(*Log) error) error {
	if inUse(filepath.Join(dir, "lock")) {
		return fmt.Errorf("%s: %w", dir, errInUse)
	}
	names, err := list(dir)
	if err != nil {
		return err
	}
	if _, err := os.ReadDir(dir); err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: %w", dir, errNoLogs)
	}
	if name != "" && names[name] == nil {
		return fmt.Errorf("%s: %w", dir, noName(names, name))
	}
	return readNames(names, name, f)
}

func noName(names map[string]*streams, name string) error {
	there := strings.Join(slices.Sorted(maps.Keys(names)), ", ")
	return fmt.Errorf("%w: %q. It has %s", errNoName, name, there)
}

// readNames reads the logs of all names, or of one.
func readNames(names map[string]*streams, name string, f func(*Log) error) error {
	for _, n := range slices.Sorted(maps.Keys(names)) {
		if name == "" || n == name {
			if err := readName(n, names[n], f); err != nil {
				return err
			}
		}
	}
	return nil
}

// readName reads the logs of one name.
func readName(name string, s *streams, f func(*Log) error) error {
	marks, err := marks(s.marks, name)
	if err != nil {
		return err
	}
	partitions := 0
	for p := range marks {
		partitions = max(partitions, p+1)
	}
	for p := range s.logs {
		partitions = max(partitions, p+1)
	}
	for p := 0; p < partitions; p++ {
		if s.some && s.logs[p] == nil {
			continue
		}
		l, of, err := readLog(s.logs[p], marks[p])
		if err != nil {
			return err
		}
		partitions = max(partitions, min(of, 1<<16))
		if l.Name = name; name != "" {
			l.Partition = p
		}
		if wrong := s.wrong[p]; wrong != nil {
			l.Problems = append(l.Problems, wrong.Error())
		}
		if s.wrongMarks != nil {
			l.Problems = append(l.Problems, fmt.Sprintf("its mark may be wrong: %v", s.wrongMarks))
		}
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

// readLog reads one log. of is the number of logs of its name, according to its last frame.
func readLog(files []string, mark *storage.Mark) (l *Log, of int, err error) {
	s, err := scan(files)
	if err != nil {
		return nil, 0, err
	}
	c := link(s, mark)
	r, err := replay(c)
	if err != nil {
		return nil, 0, err
	}
	l = &Log{Frames: len(c.frames), Lost: slices.Sorted(maps.Keys(r.lost))}
	if l.Frames > 0 {
		last := c.frames[l.Frames-1]
		l.First, l.Last, of = c.frames[0].Number, last.Number, int(last.Partitions)
		l.Partition = int(last.Partition)
	}
	if len(l.Lost) > 0 {
		c.problem("the values of %d timers are missing", len(l.Lost))
	}
	l.Problems = c.problems
	for _, k := range slices.Sorted(maps.Keys(r.timers)) {
		l.Timers = append(l.Timers, r.timers[k])
	}
	return l, of, nil
}
