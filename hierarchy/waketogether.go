package hierarchy

import (
	"math"
	"slices"
)

// nextInTurn is nextShard for Go, whose callbacks run in no order. So no timer is compared with
// those of other shards, and each shard that has due ones gets as many turns as any other.
func (r *round[T]) nextInTurn() *shard[T] {
	shards := r.core.shards
	for range shards {
		r.turn = (r.turn + 1) & (len(shards) - 1)
		if s := shards[r.turn]; s.notBefore.load() <= bound(r.now) {
			return s
		}
	}
	return nil
}

// fireTogether is fireSome for Go and a Pool. They get the callbacks when the turn ends. A Pool
// gets them in order.
func (r *round[T]) fireTogether(s *shard[T], until bound) popState {
	n := len(r.together)
	v, f, state := s.popSome(r.now, moment{until, math.MaxUint64}, &r.together)
	r.fired += 1 + len(r.together) - n
	r.popped += len(r.together) - n
	if state == apart {
		r.popped++
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
		c.poolTogether(slices.Clone(values))
	}
	clear(r.together)
	r.together = r.together[:0]
}
