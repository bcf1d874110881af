package judge

import (
	"cmp"
	"slices"
	"time"
)

// Event is something that happened, with the times when it began and ended.
type Event struct {
	Fault    string `json:"fault"`
	Worker   int    `json:"worker,omitempty"`
	Server   int    `json:"server,omitempty"` // from 1
	From, To int64  // by the clock of the records
}

// StopWorker is the fault that the judge distinguishes: what a worker does next may have been decided before it.
const StopWorker = "worker stopped"

// History is what the workers of a run have recorded, and what happened to them.
type History struct {
	Partitions int
	Events     []Event
	Problems   []string // problems that were found during the run

	calls []call
	fires []fire
	fails []string // why timers could not be opened

	open map[half]int // the places of calls and fires
}

// call is a call of a worker.
type call struct {
	Record // of its beginning
	worker int
	answer *Record // nil if the worker was killed before
}

// result returns the result of the operation, which is Unknown if there is no answer.
func (c *call) result() string {
	if c.answer == nil {
		return Unknown
	}
	return c.answer.Result
}

// isVoid reports whether the operation certainly was not committed.
func (c *call) isVoid() bool { return c.result() == Refused || c.result() == Failed }

// fire is one call of the handler.
type fire struct {
	Record // of its beginning
	worker int
	end    *Record // nil if the worker was killed before

	of   *version // the version that it is a firing of, if any
	fits bool     // whether that version could be due then
}

// done reports whether the handler returned nil.
func (f *fire) done() bool { return f.end != nil && f.end.OK }

// half identifies a call and its answer, or a handler's beginning and end.
type half struct {
	worker  int
	serial  int64
	id      string
	attempt int
	epoch   uint64
}

// Add adds further records of a worker.
func (h *History) Add(worker int, all []Record) {
	if h.open == nil {
		h.open = map[half]int{}
	}
	for i := range all {
		r := &all[i]
		this := half{worker, r.Serial, r.ID, r.Attempt, r.Epoch}
		switch r.Kind {
		case IsCall:
			h.open[this] = len(h.calls)
			h.calls = append(h.calls, call{Record: *r, worker: worker})
		case IsAnswer:
			h.calls[h.open[this]].answer = r
		case IsFire:
			h.open[this] = len(h.fires)
			h.fires = append(h.fires, fire{Record: *r, worker: worker})
		case IsFailed:
			h.fails = append(h.fails, r.Error)
		case IsEnd:
			h.fires[h.open[this]].end = r
		}
	}
}

// Sort sorts everything by when it began. Nothing can be added afterwards.
func (h *History) Sort() {
	slices.SortStableFunc(h.calls, func(a, b call) int { return cmp.Compare(a.Time, b.Time) })
	slices.SortStableFunc(h.fires, func(a, b fire) int { return cmp.Compare(a.Time, b.Time) })
	slices.SortStableFunc(h.Events, func(a, b Event) int { return cmp.Compare(a.From, b.From) })
}

// stops returns the times in which a worker was stopped.
func (h *History) stops(worker int) (all []Event) {
	for _, e := range h.Events {
		if e.Fault == StopWorker && e.Worker == worker {
			all = append(all, e)
		}
	}
	return all
}

// afterStop is how long after a stop of its worker something may still happen that was decided before.
const afterStop = 200 * time.Millisecond

// stopBefore returns the stop of its worker before which a firing may have been decided.
func (h *History) stopBefore(f *fire) (stop Event, ok bool) {
	for _, e := range h.stops(f.worker) {
		if e.From <= f.Time && f.Time <= e.To+int64(afterStop) {
			return e, true
		}
	}
	return Event{}, false
}

// partitionOf returns the partition of a key, as FORMAT.md describes it.
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
