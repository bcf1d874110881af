package engine

import (
	"math"
	"runtime"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
)

const (
	// readEvery is the number of timers after which the clock is read again: a reading costs as much as firing a
	// timer.
	readEvery = 16
	// yieldEvery is the number of timers after which a turn ends. Then the wheel lets other goroutines run, and
	// determines again which shard comes first. Unlocking alone would not make a processor run the goroutines that wait
	// for a lock.
	yieldEvery = 64
)

// round is the state of one wake-up.
type round[T any] struct {
	core     *Core[T]
	now      int64
	fired    int  // number of timers that were fired in this turn
	turn     int  // the number of the last shard that had a turn, with Go
	stays    int  // number of times that the wheel stayed awake
	popped   int  // number of timers that this wake-up has fired
	woke     bool // a goroutine that waits for a timer has been woken in this round
	inline   bool // a callback has been called with Inline in this round
	complete bool
}

// fireAll fires everything that is due on all shards. The shards take turns in this one goroutine. So timers fire in
// order of deadline across shards, except with Go, and callbacks of Inline never overlap, just as the rings of the
// alarm never do.
func (r *round[T]) fireAll() {
	var except *Shard[T] // a shard whose due timers could not be determined yet, so that others go first
	for !r.core.closed.Load() {
		s, until := r.nextShard(except)
		if s == nil && except == nil {
			return
		}
		except = nil
		if s != nil && !r.takeTurn(s, until) {
			except = s
		}
	}
}

// nextShard returns the shard whose nearest deadline is the earliest, if that deadline has passed, and the nearest
// deadline of the other shards. It ignores except. With Go, nextShard returns the next shard with a due timer.
func (r *round[T]) nextShard(except *Shard[T]) (first *Shard[T], until bound) {
	if r.core.isGo {
		return r.nextInTurn(), none
	}
	nearest := bound(r.now)
	until = none
	for _, s := range r.core.Shards {
		switch t := s.notBefore.load(); {
		case s == except:
		case t > nearest || first != nil && t == nearest:
			until = min(until, t)
		default:
			if first != nil {
				until = min(until, nearest)
			}
			first, nearest = s, t
		}
	}
	return first, until
}

// nextInTurn is nextShard for Go, whose callbacks run in no order. So no timer is compared with timers of other shards,
// and each shard with due timers gets as many turns as any other.
func (r *round[T]) nextInTurn() *Shard[T] {
	shards := r.core.Shards
	for range shards {
		r.turn = (r.turn + 1) & (len(shards) - 1)
		if s := shards[r.turn]; s.notBefore.load() <= bound(r.now) {
			return s
		}
	}
	return nil
}

// takeTurn fires the timers of s that are due, up to the nearest deadline of the other shards. It stops when the turn
// ends. It reports false if there was too much to do under one hold of the lock before the next due timer was found.
func (r *round[T]) takeTurn(s *Shard[T], until bound) bool {
	for !r.core.closed.Load() {
		before := r.fired
		switch state := r.fireSome(s, moment{until, math.MaxUint64}); {
		case state == circles.AskAgain:
			r.yield() // timers that have become due meanwhile come first
			return false
		case r.fired >= yieldEvery:
			r.yield()
			return true
		case state != circles.Due:
			return true
		case r.fired/readEvery > before/readEvery:
			r.now = r.core.Now()
		}
	}
	return true
}

// yield ends a turn, and lets other goroutines run.
func (r *round[T]) yield() {
	r.fired = 0
	r.dispatch()
	runtime.Gosched()
	r.now = r.core.Now()
}

// fireSome fires at least one timer that is due on s and comes before the moment before, if there is one. Go and a Pool
// get the callbacks when the turn ends, and a Pool gets them in order.
func (r *round[T]) fireSome(s *Shard[T], before moment) circles.State {
	n := len(r.core.due)
	v, apart, state := s.popSome(r.now, before, &r.core.due)
	fired := len(r.core.due) - n
	if apart {
		fired++
		r.woke = true
		r.core.invoke(v)
	}
	r.popped += fired
	r.fired += max(1, fired)
	if r.core.together == 1 {
		r.dispatch()
	}
	return state
}

// dispatch dispatches the callbacks of the timers that were taken out.
func (r *round[T]) dispatch() {
	c := r.core
	switch len(c.due) {
	case 0:
		return
	case 1:
		v := c.due[0]
		r.forget()
		r.dispatchOne(v)
		return
	}
	values := r.takeDue()
	if c.isGo {
		c.newRelay(values).Go()
	} else {
		c.poolTogether(values)
	}
}

// takeDue returns the timers that were taken out, and counts their callbacks as queued.
func (r *round[T]) takeDue() []T {
	values := slices.Clone(r.core.due)
	r.forget()
	r.core.inFlight.queue(int64(len(values)))
	return values
}

// forget empties due before callbacks are called, since one of them may end the goroutine.
func (r *round[T]) forget() {
	clear(r.core.due)
	r.core.due = r.core.due[:0]
}

// dispatchOne dispatches the callback of v.
func (r *round[T]) dispatchOne(v T) {
	c := r.core
	if !c.inline {
		c.inFlight.queue(1)
		c.submit(v)
		return
	}
	if !r.inline {
		r.inline = true
		c.inFlight.startInline()
	}
	c.invoke(v)
}

// end ends the round, even if a callback has panicked or exited the goroutine.
func (r *round[T]) end() {
	c := r.core
	r.leave()
	if r.inline {
		c.inFlight.finish()
	}
	c.aim.finish(c.nearest, !r.complete)
}
