//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/epicycle-go/epicycle/docs/terminal"
)

// What a record is of.
const (
	isOpen   = "open"   // the worker's timers are open
	isCall   = "call"   // an operation begins
	isAnswer = "answer" // and ends
	isFire   = "fire"   // a handler begins
	isEnd    = "end"    // and returns
	isIdle   = "idle"   // no timer is pending that is to fire
	isLeft   = "left"   // Shutdown has returned
	isFailed = "failed" // Open has failed
	isOwned  = "owned"  // the worker owns a partition
	isRead   = "read"   // no further operation is called for
	isClock  = "clock"  // the wall clock is about to be set
	isSet    = "isset"  // it was set
)

// The operations.
const (
	opSet    = "set"
	opSetAt  = "setat"
	opMove   = "move"
	opRemove = "remove"
	opGet    = "get"
)

// The results of an operation.
const (
	took    = "took"    // it has an answer
	unknown = "unknown" // it may take hold, or not
	refused = "refused" // it did not take hold, as the worker shuts down
	failed  = "failed"  // it did not take hold, for a reason that there should not be
)

// record is one line of a worker's file. It is written by one write(2), so that it survives kill -9.
type record struct {
	Kind   string `json:"k"`
	Time   int64  `json:"t"` // ns, CLOCK_MONOTONIC
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

	Partition int   `json:"p,omitempty"`
	Offset    int64 `json:"off,omitempty"` // of the worker's wall clock, ns
}

// mono is the machine's monotonic clock, the same for all processes.
func mono() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(fmt.Sprintf("torture: no monotonic clock: %v", err))
	}
	return t.Nano()
}

// now has a record's time.
func (r record) now() record {
	r.Time = mono()
	return r
}

// recorder writes records.
type recorder struct {
	mu   sync.Mutex
	file *os.File
	line bytes.Buffer
}

func (w *recorder) write(r record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line.Reset()
	err := json.NewEncoder(&w.line).Encode(r)
	if err == nil {
		_, err = w.file.Write(w.line.Bytes())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture: a record can't be written:", err)
		os.Exit(terminal.ExitFailed)
	}
}

// readRecords reads what a worker has written from a place in its file on, and returns up to where. Its last
// line may be cut off.
func readRecords(path string, from int64) (all []record, to int64, err error) {
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
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, from, fmt.Errorf("%s: the line %q: %w", path, line, err)
		}
		all, from = append(all, r), from+int64(len(line))
	}
}
