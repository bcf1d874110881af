package hierarchy

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/level"
)

const (
	// readEvery is after how many timers the clock is read again: a reading costs as much
	// as firing a timer.
	readEvery = 16
	// yieldEvery is after how many timers a turn ends. Then the wheel lets other goroutines
	// run, since unlocking gives no processor to those that wait for a lock, and looks which
	// shard comes first by now.
	yieldEvery = 64
)

// wake fires all that is due and aims the alarm at what comes next. The alarm calls it, and
// never twice at the same time.
//
// Timers fire in order of deadline, with two exceptions. While a shard has a crowd to pour
// or to move, timers that are due do not wait for it. And a timer that is set during the
// round may have to wait until the turn of another shard ends. With Go, only those of one
// shard fire in order.
func (c *core[T]) wake() {
	c.inFlight.addRound()
	defer c.inFlight.removeRound()
	if r, ok := c.beginRound(); ok {
		defer r.end()
		for more := true; more; more = r.goOn() {
			r.popped = 0
			r.fireAll()
			if c.aim.note(r.popped); r.popped == 0 {
				c.lookAgain()
			}
		}
		r.complete = true
	}
}

// beginRound is false if the wheel is closed.
func (c *core[T]) beginRound() (r round[T], ok bool) {
	now := c.now()
	return round[T]{core: c, now: now}, c.aim.begin(now)
}

// nearest is a time before which no timer is due, or none if none waits for its deadline.
func (c *core[T]) nearest() bound {
	nearest := none
	for _, s := range c.shards {
		nearest = min(nearest, s.notBefore.load())
	}
	return nearest
}

// near is about how many timers are due by that time. It stops counting above most.
func (c *core[T]) near(until int64, most int) (n int) {
	for _, s := range c.shards {
		if n <= most && s.notBefore.load() <= bound(until) {
			n += s.near(until, most-n)
		}
	}
	return n
}

// near is near of s.
func (s *shard[T]) near(until int64, most int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timers == nil {
		return 0
	}
	return s.timers.Near(until, most)
}

// round is one wake-up at work.
type round[T any] struct {
	core     *core[T]
	now      int64
	fired    int  // in this turn
	turn     int  // the number of the last shard that had a turn, with Go
	together []T  // due, and not dispatched yet
	stays    int  // how often it stayed awake
	popped   int  // how many timers this wake-up has fired
	woke     bool // a goroutine that waits for a timer has been woken in this round
	inline   bool // a callback has been called with Inline in this round
	complete bool
}

// fireAll fires what is due on all shards. The shards take turns in this one goroutine, so
// that timers fire in order of deadline across shards, but for those of Go, and callbacks of
// Inline never overlap, just as the rings of the alarm never do.
func (r *round[T]) fireAll() {
	var except *shard[T] // could not find out yet what is due there; others go first
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

// nextShard is the shard whose nearest deadline has come and comes first, and the nearest
// deadline of the others; except is left out. With Go it is the next one that is due.
func (r *round[T]) nextShard(except *shard[T]) (first *shard[T], until bound) {
	if r.core.isGo {
		return r.nextInTurn(), none
	}
	nearest := bound(r.now)
	until = none
	for _, s := range r.core.shards {
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

// takeTurn fires what is due on s, until the nearest deadline of the others, but no more than
// is left of the turn. It is false if there was too much to do under one hold of the lock
// before the next due timer was found.
func (r *round[T]) takeTurn(s *shard[T], until bound) bool {
	for !r.core.closed.Load() {
		before := r.fired
		switch state := r.fireSome(s, until); {
		case state == nothingDue:
			return true
		case state == unfinished:
			r.yield() // what has become due meanwhile comes first
			return false
		case r.fired >= yieldEvery:
			r.yield()
			return true
		case r.fired/readEvery > before/readEvery:
			r.now = r.core.now()
		}
	}
	return true
}

// yield ends a turn, and lets other goroutines run.
func (r *round[T]) yield() {
	r.fired = 0
	r.dispatchTogether()
	runtime.Gosched()
	r.now = r.core.now()
}

// fireSome fires at least one timer that is due on s and before until, if there is one.
func (r *round[T]) fireSome(s *shard[T], until bound) popState {
	if r.core.direct {
		return r.fireTogether(s, until)
	}
	v, f, state := s.popDue(r.now, moment{until, math.MaxUint64}, batch)
	if state == popped {
		r.popped++
		r.dispatch(v, f)
	}
	r.fired++
	return state
}

// dispatch has the callback of v called.
func (r *round[T]) dispatch(v T, f level.Flags) {
	c := r.core
	switch {
	case f&runInWake != 0:
		r.woke = true
		c.invoke(v)
	case c.inline:
		if !r.inline {
			r.inline = true
			c.inFlight.startInline()
		}
		c.invoke(v)
	default:
		c.inFlight.queue(1)
		c.submit(v)
	}
}

// submit gives the callback of v, which is counted as queued, to the executor. If that
// panics, a task that was not called yet never will be.
func (c *core[T]) submit(v T) {
	switch {
	case c.isGo:
		go c.runAlone(v)
		return
	case c.pool != nil:
		c.poolTogether([]T{v})
		return
	}
	since := c.dispatched()
	var called atomic.Bool
	accepted := false
	defer func() {
		if !accepted && called.CompareAndSwap(false, true) {
			c.inFlight.drop()
		}
	}()
	c.execute(func() {
		if !called.CompareAndSwap(false, true) {
			panic("hierarchy: an Executor called a task twice")
		}
		c.began(since)
		c.inFlight.start()
		defer c.inFlight.finish()
		c.mock.run(func() { c.invoke(v) })
	})
	accepted = true
}

// end ends the round, also when a callback has panicked or exited the goroutine.
func (r *round[T]) end() {
	c := r.core
	r.dispatchTogether()
	if r.inline {
		c.inFlight.finish()
	}
	c.aim.finish(c.nearest, !r.complete)
}
