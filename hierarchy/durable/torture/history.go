//go:build linux

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// history is what the workers of a run have recorded, and what happened to them.
type history struct {
	Lease      time.Duration
	Partitions int
	Strict     bool
	Alone      bool   // there was one worker with a directory, and no fault
	Modes      string // that were on
	Copies     int64  // messages that were sent again
	Zero       int64  // see wallZero
	Events     []event
	Problems   []string // that were found during the run

	calls []call
	fires []fire
	fails []string // why timers could not be opened

	clocks  map[int]wallClock // of the workers
	tenures []*tenure
	heard   bool // some worker's log has said that it owns a partition
}

// call is an operation that a worker called for.
type call struct {
	record // of its beginning
	worker int
	answer *record // nil if the worker was killed before
}

// result says whether the operation took hold. It is unknown if there is no answer.
func (c *call) result() string {
	if c.answer == nil {
		return unknown
	}
	return c.answer.Result
}

// isVoid tells whether the operation certainly did not take hold.
func (c *call) isVoid() bool { return c.result() == refused || c.result() == failed }

// fire is one call of the handler.
type fire struct {
	record // of its beginning
	worker int
	end    *record // nil if the worker was killed before

	of    *version // what it is a firing of, if anything
	fits  bool     // it can be due then
	ready int64    // when it was due by its owner's clock, ns, CLOCK_MONOTONIC
}

// done tells whether the handler returned nil.
func (f *fire) done() bool { return f.end != nil && f.end.OK }

// add takes in the records of a worker.
func (h *history) add(worker int, all []record) {
	type attempt struct {
		id      string
		attempt int
		epoch   uint64
	}
	calls, fires := map[int64]int{}, map[attempt]int{}
	if h.clocks == nil {
		h.clocks = map[int]wallClock{}
	}
	for i := range all {
		r := &all[i]
		this := attempt{r.ID, r.Attempt, r.Epoch}
		switch r.Kind {
		case isCall:
			calls[r.Serial] = len(h.calls)
			h.calls = append(h.calls, call{record: *r, worker: worker})
		case isAnswer:
			h.calls[calls[r.Serial]].answer = r
		case isFire:
			fires[this] = len(h.fires)
			h.fires = append(h.fires, fire{record: *r, worker: worker})
		case isOwned:
			h.owns(worker, r.Partition, r.Epoch, r.Time).ahead = r.Offset
			h.heard = true
		case isClock:
			h.clocks[worker] = append(h.clocks[worker], setting{r.Offset, r.Time, math.MaxInt64})
		case isSet:
			h.clocks[worker][len(h.clocks[worker])-1].to = r.Time
		case isFailed:
			h.fails = append(h.fails, r.Error)
		case isEnd:
			h.fires[fires[this]].end = r
		}
	}
}

// sort brings all into the order of their beginnings.
func (h *history) sort() {
	slices.SortStableFunc(h.calls, func(a, b call) int { return cmp.Compare(a.Time, b.Time) })
	slices.SortStableFunc(h.fires, func(a, b fire) int { return cmp.Compare(a.Time, b.Time) })
	slices.SortStableFunc(h.Events, func(a, b event) int { return cmp.Compare(a.From, b.From) })
}

// history reads what was recorded. What is not in the workers' files goes into one of its own.
func (w *world) history() (*history, error) {
	h := &history{Lease: w.lease, Partitions: w.partitions, Strict: w.strict, Alone: w.alone, Modes: w.modes, Copies: w.copies.Load(), Zero: w.zero, Events: w.happen, Problems: w.problem}
	b, err := json.MarshalIndent(h, "", "\t")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "events.json"), b, 0o600); err != nil {
		return nil, err
	}
	for i := 1; i <= w.numbers; i++ {
		all, _, err := readRecords(recordsPath(w.dir, i), 0)
		if err != nil {
			return nil, err
		}
		h.add(i, all)
	}
	h.sort()
	if len(h.fires) > 0 && !h.heard && !h.Alone {
		h.Problems = append(h.Problems, "no worker has said what it owns")
	}
	return h, w.readOutput(h)
}

// alarms are what a worker never says if all is well. A log that only seems to be damaged, as its servers are
// behind, is read again, and is none.
var alarms = []string{"DATA RACE", "panic", "fatal error:", "durable: a log is damaged"}

// readOutput looks for alarms in what the workers have said.
func (w *world) readOutput(h *history) error {
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

// stops are the times in which a worker was stopped.
func (h *history) stops(worker int) (all []event) {
	for _, e := range h.Events {
		if e.Fault == stopWorker && e.Worker == worker {
			all = append(all, e)
		}
	}
	return all
}

// afterStop is how long after a stop of its worker what had been decided before may still happen.
const afterStop = 200 * time.Millisecond

// stopBefore returns the stop of its worker that a firing may have begun before, as seen by what
// decided about it.
func (h *history) stopBefore(f *fire) (stop event, ok bool) {
	for _, e := range h.stops(f.worker) {
		if e.From <= f.Time && f.Time <= e.To+int64(afterStop) {
			return e, true
		}
	}
	return event{}, false
}

// partitionOf is the partition of a key, as FORMAT.md describes it.
func partitionOf(key string, partitions int) int {
	h := uint64(14695981039346656037)
	for _, c := range []byte(key) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return int(h >> 32 * uint64(partitions) >> 32)
}
