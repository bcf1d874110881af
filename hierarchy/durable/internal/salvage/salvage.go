package salvage

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
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
	Frames      int
	First, Last uint64   // the numbers of the first and the last frame
	Problems    []string // what is wrong, in words
	Timers      []*Timer // by key
	Lost        []string // the keys of timers whose values are missing
}

// Read reads the logs of a directory, or only that of a name, and calls f with each.
func Read(dir, name string, f func(*Log) error) error {
	if inUse(filepath.Join(dir, "lock")) {
		return fmt.Errorf("%s: %w", dir, errInUse)
	}
	if _, err := os.ReadDir(dir); err != nil {
		return err
	}
	logs, err := list(dir)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(logs))
	if len(names) == 0 {
		return fmt.Errorf("%s: %w", dir, errNoLogs)
	}
	if name != "" && logs[name] == nil {
		return fmt.Errorf("%s: %w: %q. It has %s", dir, errNoName, name, strings.Join(names, ", "))
	}
	for _, n := range names {
		if name == "" || n == name {
			if err := readLog(n, logs[n], f); err != nil {
				return err
			}
		}
	}
	return nil
}

// readLog reads one log.
func readLog(name string, of *files, f func(*Log) error) error {
	l, err := read(of)
	if err != nil {
		return err
	}
	l.Name = name
	return f(l)
}

func read(of *files) (*Log, error) {
	s, err := scan(of.segments)
	if err != nil {
		return nil, err
	}
	mark, err := filelog.ReadMark(of.mark)
	if err != nil {
		return nil, err
	}
	c := link(s, mark)
	r, err := replay(c)
	if err != nil {
		return nil, err
	}
	l := &Log{Frames: len(c.frames), Lost: slices.Sorted(maps.Keys(r.lost))}
	if l.Frames > 0 {
		l.First, l.Last = c.frames[0].Number, c.frames[l.Frames-1].Number
	}
	if len(l.Lost) > 0 {
		c.problem("the values of %d timers are missing", len(l.Lost))
	}
	l.Problems = c.problems
	for _, k := range slices.Sorted(maps.Keys(r.timers)) {
		l.Timers = append(l.Timers, r.timers[k])
	}
	return l, nil
}
