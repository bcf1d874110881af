package main

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// functions is the parsed output of `go tool cover -func`.
type functions struct {
	total float64            // percentage of all statements that ran
	ran   map[string]float64 // percentage of each function's statements that ran, by position: directory/file.go:line
}

func parseFunctions(text string) (*functions, error) {
	f := &functions{ran: map[string]float64{}}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("go tool cover printed %q", line)
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(fields[2], "%"), 64)
		if err != nil {
			return nil, fmt.Errorf("go tool cover printed %q", line)
		}
		if fields[0] == "total:" {
			f.total = percent
		} else {
			f.ran[position(strings.TrimSuffix(fields[0], ":"))] = percent
		}
	}
	if len(f.ran) == 0 {
		return nil, fmt.Errorf("go tool cover printed no function")
	}
	return f, nil
}

// position shortens a file's import path to its last directory and its name.
func position(s string) string {
	return path.Join(path.Base(path.Dir(s)), path.Base(s))
}
