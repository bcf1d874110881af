package hierarchy

import (
	"math"
	"runtime"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// popTogether is how many timers that are due are taken out under one hold of the lock, if
// the executor is Go. It takes about a microsecond.
const popTogether = 16

// fireTogether fires what is due on s, but no more than fits in a turn: a goroutine gets up to
// yieldEvery callbacks. These run in no order, so s need not wait for the other shards. It
// returns what takeTurn does.
func (r *round[T]) fireTogether(s *shard[T]) bool {
	c := r.core
	defer r.dispatchTogether()
	for turn := 0; turn < yieldEvery && !c.closed.Load(); {
		n := len(r.together)
		v, f, state := s.popSome(r.now, &r.together)
		popped := len(r.together) - n
		turn += popped + 1
		r.fired += popped
		r.useful = r.useful || popped > 0
		switch state {
		case nothingDue:
			return true
		case unfinished:
			r.dispatchTogether()
			runtime.Gosched()
			r.now = c.now() // what has become due meanwhile comes first
			return false
		case apart:
			r.useful = true
			r.dispatch(v, f)
		}
		r.now = c.now()
	}
	r.dispatchTogether()
	runtime.Gosched()
	return true
}

// popSome takes up to popTogether timers out that are due, and appends their values to due. If
// one is to be dispatched apart, it is the last, and is returned instead.
func (s *shard[T]) popSome(now int64, due *[]T) (v T, f level.Flags, state popState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, budget := moment{none, math.MaxUint64}, batch
	for range popTogether {
		v, f, state = s.popNext(now, before, budget)
		switch {
		case state == unfinished && budget < batch: // it was not much
			return v, f, popped
		case state == nothingDue || state == unfinished:
			return v, f, state
		case state == popped && f&runInWake != 0:
			return v, f, apart
		case state == popped:
			*due = append(*due, v)
		}
		budget = batch / popTogether
	}
	return v, f, popped
}

// dispatchTogether gives what is due and not dispatched yet to Go.
func (r *round[T]) dispatchTogether() {
	if len(r.together) == 0 {
		return
	}
	r.core.inFlight.queue(int64(len(r.together)))
	r.core.runTogether(slices.Clone(r.together))
	clear(r.together)
	r.together = r.together[:0]
}
