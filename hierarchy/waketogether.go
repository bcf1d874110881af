package hierarchy

import (
	"math"
	"slices"
)

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

// dispatchTogether gives what is due and not dispatched yet to Go or the Pool.
func (r *round[T]) dispatchTogether() {
	if len(r.together) == 0 {
		return
	}
	c, values := r.core, r.together
	c.inFlight.queue(int64(len(values)))
	switch {
	case len(values) == 1:
		c.submit(values[0])
	case c.isGo:
		c.relay(slices.Clone(values))
	default:
		c.pool.add(&pooled[T]{tasks[T]{core: c, values: slices.Clone(values)}})
	}
	clear(r.together)
	r.together = r.together[:0]
}
