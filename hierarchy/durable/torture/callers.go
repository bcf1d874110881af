//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

const (
	// The shared keys are few, and change, since a history with many operations of unknown result takes too long
	// to check.
	sharedFor      = 5 * time.Second
	sharedCallers  = 3
	firingCallers  = 3
	pauseUnknown   = 300 * time.Millisecond // after a result that is unknown
	pauseShared    = 25 * time.Millisecond  // on average
	pauseFiring    = 40 * time.Millisecond
	pauseBatch     = 120 * time.Millisecond
	batchSize      = 10
	longestTimer   = 4 * time.Second
	longestPatient = 10 * time.Second // of a context
)

// begin begins all callers.
func (w *worker) begin() {
	callers := 0
	start := func(n int, what func(caller int, r *rand.Rand)) {
		for range n {
			callers++
			caller := callers
			r := rand.New(rand.NewPCG(w.cfg.Seed, uint64(w.cfg.Number)<<16+uint64(caller)))
			w.wg.Go(func() {
				for w.enough.Err() == nil {
					what(caller, r)
				}
			})
		}
	}
	start(sharedCallers, w.callShared)
	start(firingCallers, w.callFiring)
	start(1, w.callBatch)
}

// about returns a random duration of that average.
func about(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(2 * d))) }

// sharedKey returns one of the few keys of the present period.
func (w *worker) sharedKey(r *rand.Rand) string {
	i := r.IntN(w.cfg.Keys)
	shift := int64(sharedFor) * int64(i) / int64(w.cfg.Keys)
	key := fmt.Sprintf("%s%d/%d", judge.SharedKeys, i, (mono()+shift)/int64(sharedFor))
	w.mu.Lock()
	w.used[key] = true
	w.mu.Unlock()
	return key
}

// patience returns the time limit of a call. Some callers are impatient.
func (w *worker) patience(r *rand.Rand) time.Duration {
	if r.IntN(10) == 0 {
		return time.Duration(1 + r.IntN(500*1000*1000))
	}
	return longestPatient
}

// unique returns a value, or a name, that is used nowhere else.
func (w *worker) unique() string { return fmt.Sprintf("%d-%d", w.cfg.Number, w.names.Add(1)) }

const farAway = 1000 * time.Hour // longer than any run

// callShared does an operation on one of the few keys. Their timers are not due during the run.
func (w *worker) callShared(caller int, r *rand.Rand) {
	a := operation{key: w.sharedKey(r), value: w.unique(), in: farAway, limit: w.patience(r)}
	a.op = []string{judge.OpGet, judge.OpGet, judge.OpSet, judge.OpSet, judge.OpSetAt, judge.OpMove, judge.OpMoveAt, judge.OpRemove}[r.IntN(8)]
	var result string
	if r.IntN(12) == 0 {
		b := a
		if b.key = w.sharedKey(r); b.key == a.key {
			return
		}
		a.op, b.op, b.value = judge.OpSet, []string{judge.OpMove, judge.OpMoveAt}[r.IntN(2)], ""
		result = w.batch(caller, []operation{a, b}, a.limit)
	} else {
		_, result = w.call(caller, a)
	}
	w.rest(r, result, pauseShared)
}

func (w *worker) rest(r *rand.Rand, result string, pause time.Duration) {
	d := about(r, pause)
	if result != judge.Took {
		d += pauseUnknown
	}
	time.Sleep(d)
}

// duration returns the duration of a timer that is to fire.
func (w *worker) duration(r *rand.Rand) time.Duration {
	if r.IntN(4) == 0 {
		return time.Duration(r.IntN(50_000_000))
	}
	return time.Duration(r.Int64N(int64(longestTimer)))
}

// firing returns a timer that is to be set, and to fire.
func (w *worker) firing(r *rand.Rand) operation {
	a := operation{op: judge.OpSet, key: judge.FiringKeys + w.unique(), value: w.unique(), in: w.duration(r)}
	if r.IntN(3) == 0 {
		a.op = judge.OpSetAt
	}
	return a
}

// callFiring sets a timer that is to fire. Some are changed once more.
func (w *worker) callFiring(caller int, r *rand.Rand) {
	a := w.firing(r)
	a.limit = w.patience(r)
	_, result := w.call(caller, a)
	change := r.IntN(12)
	if result != judge.Took || change > 3 {
		w.rest(r, result, pauseFiring)
		return
	}
	wait := min(a.in*time.Duration(r.IntN(120))/100, time.Second)
	time.Sleep(wait)
	a.limit = w.patience(r)
	switch change {
	case 0, 1:
		a.op, a.value, a.in = judge.OpRemove, "", 0
	case 2:
		a.op = []string{judge.OpMove, judge.OpMoveAt}[r.IntN(2)]
		a.value, a.in = "", a.in+moveLater+about(r, moveLater)
	case 3:
		a.op, a.value, a.in = judge.OpSet, w.unique(), w.duration(r)
	}
	_, result = w.call(caller, a)
	w.rest(r, result, pauseFiring)
}

// moveLater is by how much, at least, Move makes a timer due later. That distinguishes firings before and after it.
const moveLater = 500 * time.Millisecond

// callBatch sets many timers that are to fire at once.
func (w *worker) callBatch(caller int, r *rand.Rand) {
	var all []operation
	for range batchSize {
		all = append(all, w.firing(r))
	}
	w.rest(r, w.batch(caller, all, w.patience(r)), pauseBatch)
}

// readBack gets all keys that were used.
func (w *worker) readBack() {
	if w.timers.Load() == nil {
		return
	}
	for key := range w.used {
		w.call(0, operation{op: judge.OpGet, key: key, limit: longestPatient})
	}
}
