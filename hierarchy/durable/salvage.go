package durable

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/salvage"
)

// Salvaged describes what Salvage has read of one log.
type Salvaged struct {
	Name        string // Config.Name of the timers; empty if the files are not in their directory
	Frames      int
	First, Last uint64 // the numbers of the first and the last frame
	Timers      int    // the number of timers, including dead and uncertain ones
	Dead        int
	Uncertain   int
	Problems    []string // descriptions of the damage, for people; nil if there is no damage
	Lost        []string // the keys, as Config.Key encodes them, of timers whose values are missing
}

// Salvage reads what is readable in a directory of timers (Config.Dir) with damaged logs, and writes it to out as lines
// of JSON, which Keyed.Import reads. It calls f for each log, after the log's lines, and ends with the first error of
// f. If name is not "", Salvage reads only the timers with that Config.Name. Instead of the directory, from can be some
// segments of its logs, such as logs/timers/0000000000000001.seg, or copies of them.
//
// Salvage changes nothing in the directory, and no process may have the directory open. Neither does Open change the messages
// of a log in which it finds damage.
//
// Each line is as Export writes it, with the name. The last one has the number of timers. A line has the field
// "uncertain" if frames are missing after the last operation that tells all of the timer: the timer may have ended, or been set, moved or removed
// since, and its value and due time may be older ones. An operation that tells only a part of a timer, as a Move does,
// does not make it certain again. If the mark of a log is missing, which is among the Problems, frames at the end of
// the log may be missing, too.
func Salvage(out io.Writer, name string, f func(Salvaged) error, from ...string) error {
	w, n := bufio.NewWriter(out), 0
	each := func(l *salvage.Log) error {
		if err := writeSalvaged(w, l); err != nil {
			return err
		}
		n += len(l.Timers)
		return f(salvaged(l))
	}
	err := salvageFrom(from, name, each)
	if err == nil {
		err = writeEnd(w, n)
	}
	return errors.Join(err, w.Flush())
}

func salvageFrom(from []string, name string, each func(*salvage.Log) error) error {
	if len(from) == 1 {
		info, err := os.Stat(from[0])
		if err != nil {
			return err
		}
		if info.IsDir() {
			return salvage.Read(from[0], name, each)
		}
	}
	return salvage.ReadFiles(from, name, each)
}

func salvaged(l *salvage.Log) Salvaged {
	s := Salvaged{Name: l.Name, Frames: l.Frames, First: l.First, Last: l.Last,
		Timers: len(l.Timers), Problems: l.Problems, Lost: l.Lost}
	for _, t := range l.Timers {
		if t.Dead {
			s.Dead++
		}
		if t.Uncertain {
			s.Uncertain++
		}
	}
	return s
}

// salvagedLine is a timer of a log as a line. Import ignores the fields that are not in line.
type salvagedLine struct {
	Name string `json:"name"`
	*line
	Uncertain bool `json:"uncertain,omitempty"`
}

func writeSalvaged(w io.Writer, l *salvage.Log) error {
	enc := newLineEncoder(w)
	for _, t := range l.Timers {
		if err := enc.Encode(salvagedLine{l.Name, lineOf(&t.Timer), t.Uncertain}); err != nil {
			return err
		}
	}
	return nil
}
