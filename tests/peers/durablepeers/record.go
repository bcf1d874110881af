package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// Workers and callers append events to one file, each with one write, so a kill can't lose earlier events. All
// processes are on one machine, so all times are of one clock.

type kind byte

const (
	scheduled kind = 1 + iota // the scheduling was acknowledged
	cancelled                 // a cancel of the pending timer was acknowledged
	fired                     // the handler was called
)

type event struct {
	Kind kind
	Key  uint32
	Due  int64 // due time, only of scheduled events
	At   int64 // time of the answer or of the handler's call, in nanoseconds since 1970
}

// eventSize divides the size of a page, so that no event is written in part.
const eventSize = 32

type recorder struct{ file *os.File }

func openRecorder(path string) (recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return recorder{f}, err
}

func (r recorder) add(e event) error {
	var b [eventSize]byte
	b[0] = byte(e.Kind)
	binary.LittleEndian.PutUint32(b[4:], e.Key)
	binary.LittleEndian.PutUint64(b[8:], uint64(e.Due))
	binary.LittleEndian.PutUint64(b[16:], uint64(e.At))
	_, err := r.file.Write(b[:])
	return err
}

// reader reads the events that were appended to a file.
type reader struct{ file *os.File }

func (r reader) next() (all []event, err error) {
	data, err := io.ReadAll(r.file)
	if len(data)%eventSize != 0 {
		if _, err := r.file.Seek(-int64(len(data)%eventSize), io.SeekCurrent); err != nil {
			return nil, err
		}
	}
	for ; len(data) >= eventSize; data = data[eventSize:] {
		e := event{
			Kind: kind(data[0]), Key: binary.LittleEndian.Uint32(data[4:]),
			Due: int64(binary.LittleEndian.Uint64(data[8:])), At: int64(binary.LittleEndian.Uint64(data[16:])),
		}
		if e.Kind < scheduled || e.Kind > fired {
			return nil, fmt.Errorf("an event of kind %d", e.Kind)
		}
		all = append(all, e)
	}
	return all, err
}
