package hierarchy

import (
	"math"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// popTogether is how many timers that are due are taken out under one hold of the lock, if
// the executor is Go or a Pool. It takes about a microsecond.
const popTogether = 16

// fireTogether is fireSome for Go and a Pool. They get the callbacks when the turn ends. A Pool
// gets them in order. With Go they run in no order, so no shard need wait for the others.
func (r *round[T]) fireTogether(s *shard[T], until bound) popState {
	if r.core.isGo {
		until = none
	}
	n := len(r.together)
	v, f, state := s.popSome(r.now, moment{until, math.MaxUint64}, &r.together)
	r.fired += 1 + len(r.together) - n
	r.useful = r.useful || len(r.together) > n
	if state == apart {
		r.useful = true
		r.dispatch(v, f)
	}
	return state
}

// popSome takes up to popTogether timers out that are due and before that moment, and appends
// their values to due. If one is to be dispatched apart, it is the last, and is returned
// instead.
func (s *shard[T]) popSome(now int64, before moment, due *[]T) (v T, f level.Flags, state popState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	budget := batch
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

// dispatchTogether gives what is due and not dispatched yet to Go or the Pool.
func (r *round[T]) dispatchTogether() {
	if len(r.together) == 0 {
		return
	}
	c, values := r.core, slices.Clone(r.together)
	c.inFlight.queue(int64(len(values)))
	if c.isGo {
		c.relay(values)
	} else {
		c.pool.add(&pooled[T]{tasks[T]{core: c, values: values}})
	}
	clear(r.together)
	r.together = r.together[:0]
}
