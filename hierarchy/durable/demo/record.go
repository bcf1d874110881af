package main

import (
	"fmt"
	"strings"
)

// A process writes a line to a pipe before and after each operation, and for each firing. What is
// in the pipe outlives kill -9.
const (
	lineOpen     = "open %d"                // unix ns: the timers are read
	lineSetting  = "setting %s"             // key
	lineSet      = "set %s"                 // key: acknowledged
	lineRemoving = "removing %s"            // key
	lineRemoved  = "removed %s %d"          // key: acknowledged, unix ns
	lineGone     = "gone %s"                // key: there was nothing to remove
	lineFire     = "fire %s %s %d %d %d %d" // key, ID, attempt, epoch, due and now in unix ns
	lineOwners   = "owners %s"              // who owns each partition: process IDs with commas, or -
	lineDone     = "done %d %d %d %d %d"    // pending, dead, frames, bytes, log bytes
	lineFailed   = "failed %q"              // an error that must not be
)

// event is one line.
type event struct {
	kind     string
	key      string
	owners   string
	firing   firing
	at       int64
	problem  string
	counters counters
}

// firing is one call of the handler.
type firing struct {
	life    int // which process, from 0
	id      string
	attempt int
	epoch   uint64
	due, at int64 // unix ns
}

// counters are what a process says when it ends in order.
type counters struct {
	pending, dead int
	frames, bytes uint64
	logBytes      int64
}

// parseLine parses a line of a process.
func parseLine(line string) (e event, err error) {
	e.kind, _, _ = strings.Cut(line, " ")
	scan := func(format string, to ...any) { _, err = fmt.Sscanf(line, format, to...) }
	f, c := &e.firing, &e.counters
	switch e.kind {
	case "open":
		scan(lineOpen, &e.at)
	case "setting", "set", "removing", "gone":
		scan(e.kind+" %s", &e.key)
	case "removed":
		scan(lineRemoved, &e.key, &e.at)
	case "owners":
		scan(lineOwners, &e.owners)
	case "fire":
		scan(lineFire, &e.key, &f.id, &f.attempt, &f.epoch, &f.due, &f.at)
	case "done":
		scan(lineDone, &c.pending, &c.dead, &c.frames, &c.bytes, &c.logBytes)
	case "failed":
		scan(lineFailed, &e.problem)
	default:
		err = fmt.Errorf("unknown")
	}
	if err != nil {
		err = fmt.Errorf("a process wrote the line %q: %w", line, err)
	}
	return e, err
}
