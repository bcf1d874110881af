package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// The prefix of a key determines what its timer is for. Timers of SharedKeys are not due during a run, and calls
// for them, by any caller, are compared with each other. Each of the other keys belongs to one caller, and its timer
// fires.
const (
	SharedKeys = "shared/"
	FiringKeys = "fires/"
)

// The kinds of records.
const (
	IsOpen   = "open"   // the worker's timers are open
	IsCall   = "call"   // an operation begins
	IsAnswer = "answer" // an operation ends
	IsFire   = "fire"   // a handler begins
	IsEnd    = "end"    // a handler returns
	IsIdle   = "idle"   // no timer is pending that is to fire
	IsLeft   = "left"   // Shutdown has returned
	IsFailed = "failed" // Open has failed
	IsOwners = "owners" // Value has who owns each partition, as far as the worker knows
	IsWrong  = "wrong"  // Error is something that must not happen
	IsRead   = "read"   // the worker calls no further operation
)

// The operations.
const (
	OpSet    = "set"
	OpSetAt  = "setat"
	OpMove   = "move"
	OpMoveAt = "moveat"
	OpRemove = "remove"
	OpGet    = "get"
)

// The results of an operation.
const (
	Took    = "took"    // it has an answer
	Unknown = "unknown" // it may be committed, or not
	Refused = "refused" // it was not committed, as the worker is shutting down
	Failed  = "failed"  // it was not committed, for a reason that should not occur
)

// Record is one line of a worker's file. It is written by one write(2), so that it survives kill -9.
type Record struct {
	Kind   string `json:"k"`
	Time   int64  `json:"t"` // ns since 1970, by a clock that all processes share
	Caller int    `json:"c,omitempty"`
	Serial int64  `json:"n,omitempty"` // of the call
	Op     string `json:"o,omitempty"`
	Key    string `json:"key,omitempty"`
	Value  string `json:"v,omitempty"`
	In     int64  `json:"d,omitempty"`     // the duration of Set and Move
	Limit  int64  `json:"limit,omitempty"` // of the context
	Result string `json:"r,omitempty"`
	OK     bool   `json:"ok,omitempty"`
	Error  string `json:"err,omitempty"`

	ID      string `json:"id,omitempty"`
	Attempt int    `json:"a,omitempty"`
	Epoch   uint64 `json:"e,omitempty"`
	Due     int64  `json:"due,omitempty"`
	Over    bool   `json:"over,omitempty"` // the handler's context had ended when it was called

	Left *Left `json:"left,omitempty"`
}

// Left is what a worker reports about itself when it has shut down.
type Left struct {
	Pending, Dead int
	Frames, Bytes uint64
	LogBytes      int64
}

// Recorder writes records.
type Recorder struct {
	Out  io.Writer
	Now  func() int64 // returns the time of records that have none. The clock is the same in all processes
	mu   sync.Mutex
	line bytes.Buffer
}

// Write writes a record. If it fails, the process should end.
func (w *Recorder) Write(r Record) error {
	if r.Time == 0 {
		r.Time = w.Now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line.Reset()
	err := json.NewEncoder(&w.line).Encode(r)
	if err == nil {
		_, err = w.Out.Write(w.line.Bytes())
	}
	return err
}

// ParseRecord parses a line.
func ParseRecord(line []byte) (r Record, err error) {
	if err = json.Unmarshal(line, &r); err != nil {
		err = fmt.Errorf("the line %q: %w", line, err)
	}
	return r, err
}

// ReadRecords reads the records in a worker's file from an offset on, and returns the offset after the last one. An
// incomplete last line is left for the next call.
func ReadRecords(path string, from int64) (all []Record, to int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, from, nil // it was killed before it could begin
	}
	if err != nil {
		return nil, from, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, from, err
	}
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return all, from, nil
		}
		if err != nil {
			return nil, from, err
		}
		r, err := ParseRecord(line)
		if err != nil {
			return nil, from, fmt.Errorf("%s: %w", path, err)
		}
		all, from = append(all, r), from+int64(len(line))
	}
}
