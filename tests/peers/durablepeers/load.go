package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// load is the work of the callers in a node: an operation on each of the timers First to First+N-1.
type load struct {
	Do       string // schedule, move, cancel
	First, N uint32
	Callers  int
	Rate     int   // operations a second; 0 if each caller goes on as soon as it has its answer
	Due      int64 // due time of the first timer, in nanoseconds since 1970; the others are due Step apart
	Step     time.Duration
	In       time.Duration // time from the call until the timer is due, if Due is 0
	// Until is the latest end of the load, in nanoseconds since 1970. If it is 0, the load ends when all is done.
	Until int64
	// Near makes each call 3, 2, 1 or 0 ms before its timer is due.
	Near bool
	// Record makes each answer an event.
	Record bool
}

// loaded is the result of a load.
type loaded struct {
	Done    int // number of calls that returned true, or no error
	Refused int // number of calls that returned false
	Failed  int
	Failure string // the first error
	Elapsed time.Duration
	P50     time.Duration
	P99     time.Duration
}

const operationTimeout = 20 * time.Second

// run returns when all callers have returned.
func (l load) run(s store, rec recorder) (loaded, error) {
	r := &running{load: l, store: s, rec: rec, start: time.Now()}
	var callers sync.WaitGroup
	for range l.Callers {
		callers.Go(r.call)
	}
	callers.Wait()
	r.sum.Elapsed = time.Since(r.start)
	if len(r.took) > 0 {
		slices.Sort(r.took)
		r.sum.P50, r.sum.P99 = figures.Quantile(r.took, 0.5), figures.Quantile(r.took, 0.99)
	}
	return r.sum, r.err
}

type running struct {
	load
	store store
	rec   recorder
	start time.Time
	next  atomic.Uint32

	mu   sync.Mutex
	sum  loaded
	took []time.Duration
	err  error // error of the recorder
}

// call is one caller.
func (r *running) call() {
	var mine loaded
	var took []time.Duration
	var err error
	for err == nil {
		i := r.next.Add(1) - 1
		if i >= r.N || !r.wait(i) {
			break
		}
		begun := time.Now()
		ok, failure := r.do(r.First+i, begun)
		took = append(took, time.Since(begun))
		switch {
		case failure != nil:
			mine.Failed++
			mine.Failure = failure.Error()
		case !ok:
			mine.Refused++
		default:
			mine.Done++
			err = r.note(r.First+i, begun)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Done += mine.Done
	r.sum.Refused += mine.Refused
	r.sum.Failed += mine.Failed
	if r.sum.Failure == "" {
		r.sum.Failure = mine.Failure
	}
	r.took = append(r.took, took...)
	if err != nil {
		r.err = err
	}
}

// wait waits until it is time for operation i, and reports whether the operation is to be made.
func (r *running) wait(i uint32) bool {
	if r.Rate > 0 {
		time.Sleep(time.Until(r.start.Add(time.Duration(i) * time.Second / time.Duration(r.Rate))))
	}
	if r.Near {
		time.Sleep(time.Until(r.due(r.First+i, time.Time{}).Add(-time.Duration(i%4) * time.Millisecond)))
	}
	return r.Until == 0 || time.Now().UnixNano() < r.Until
}

// due returns the time at which the timer of key is due if it is scheduled now.
func (r *running) due(key uint32, now time.Time) time.Time {
	if r.Due == 0 {
		return now.Add(r.In)
	}
	return time.Unix(0, r.Due).Add(time.Duration(key-r.First) * r.Step)
}

func (r *running) do(i uint32, now time.Time) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	key := keyOf(i)
	switch r.Do {
	case "move":
		return r.store.Move(ctx, key, r.due(i, now), valueOf(key))
	case "cancel":
		return r.store.Cancel(ctx, key)
	default:
		return true, r.store.Schedule(ctx, key, r.due(i, now), valueOf(key))
	}
}

// note records an answer.
func (r *running) note(i uint32, now time.Time) error {
	switch {
	case !r.Record:
		return nil
	case r.Do == "cancel":
		return r.rec.add(event{Kind: cancelled, Key: i, At: time.Now().UnixNano()})
	default:
		return r.rec.add(event{Kind: scheduled, Key: i, Due: r.due(i, now).UnixNano(), At: time.Now().UnixNano()})
	}
}
