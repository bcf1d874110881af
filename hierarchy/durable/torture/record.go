//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// recorder writes records. If it can't, it ends the process.
type recorder struct{ judge.Recorder }

func recordTo(out io.Writer, now func() int64) *recorder {
	return &recorder{judge.Recorder{Out: out, Now: now}}
}

func (w *recorder) write(r judge.Record) {
	if err := w.Write(r); err != nil {
		fmt.Fprintln(os.Stderr, "torture: a record can't be written:", err)
		os.Exit(terminal.ExitFailed)
	}
}

// judge reads the records, and compares them with what is promised.
func (w *world) judge() (*judge.Report, error) {
	h, err := w.history()
	if err != nil {
		return nil, err
	}
	r := h.Judge()
	return r, r.WriteDisorder(filepath.Join(w.dir, "history.txt"))
}

// history reads the records. It writes what is not in the workers' files to one of its own.
func (w *world) history() (*judge.History, error) {
	h := &judge.History{Partitions: w.partitions, Events: w.happen, Problems: w.problem}
	b, err := json.MarshalIndent(h, "", "\t")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "events.json"), b, 0o600); err != nil {
		return nil, err
	}
	for i := 1; i <= w.numbers; i++ {
		all, _, err := judge.ReadRecords(recordsPath(w.dir, i), 0)
		if err != nil {
			return nil, err
		}
		h.Add(i, all)
	}
	h.Sort()
	return h, w.readOutput(h)
}

// alarms are texts that must not be in a worker's output. A log that only seems to be damaged, because its servers are
// behind, is read again, and is not reported as damaged.
var alarms = []string{"DATA RACE", "panic", "fatal error:", "durable: a log is damaged"}

// readOutput searches the output of the workers for alarms.
func (w *world) readOutput(h *judge.History) error {
	for i := 1; i <= w.numbers; i++ {
		name := fmt.Sprintf("worker-%d.txt", i)
		b, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			return err
		}
		for _, alarm := range alarms {
			if bytes.Contains(b, []byte(alarm)) {
				h.Problems = append(h.Problems, fmt.Sprintf("%s has %q", name, alarm))
			}
		}
	}
	return nil
}
