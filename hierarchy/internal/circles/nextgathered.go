package circles

import (
	"math"

	"github.com/epicycle-go/epicycle/level"
)

// What follows is for circles that gather crowds and need not keep order. A crowd that is not
// too large is gathered ahead of its time, instead of being poured.

const (
	// besideQueue is how many nodes of slots may be gone through before a timer of a queue that
	// is due. It is enough to put a slot in order that need not be poured.
	besideQueue = 64
	// prepareEvery is after how many timers that are due the next crowd is prepared, and
	// prepareBudget how many nodes are gone through then. Otherwise a wheel that is behind
	// would never have the time to prepare one, and would fall behind further.
	prepareEvery  = 8
	prepareBudget = 12
)

// nextWithGathered is Next if there are queues, or one in the making.
func (c *Circles) nextWithGathered(now int64, budget int) Verdict {
	i, at, ok, left := c.firstGathered(budget)
	if left == 0 {
		return Verdict{State: AskAgain}
	}
	limit, due := now, ok && at <= now
	if due { // it does not wait for others
		if limit = at; c.open == 0 && !c.anySlotBy(at) && (c.next == nil || c.next.start > at) {
			c.prepareBeside(at)
			return Verdict{State: Due, Node: i, At: at}
		}
		budget = min(budget, besideQueue)
	}
	if c.next != nil && c.next.start <= limit && c.goOnGathering(budget) {
		return c.nextWithGathered(now, budget)
	}
	queuesBefore := len(c.queues)
	v := c.nextInSlots(limit, budget, due)
	anotherQueue := len(c.queues) > queuesBefore
	switch {
	case v.State == Due && (!ok || c.arena.At(v.Node).Before(c.arena.At(i))):
		c.prepareBeside(v.At)
		return v
	case due:
		c.prepareBeside(at)
		return Verdict{State: Due, Node: i, At: at}
	case v.State == AskAgain, anotherQueue:
		return Verdict{State: AskAgain}
	case c.next != nil: // nothing is left in slots
		c.goOnGathering(budget)
		return Verdict{State: AskAgain}
	case ok && (v.State == Empty || at < v.At):
		return Verdict{State: NotBefore, Node: i, At: at}
	case !ok:
		c.idle, c.buffers = nil, nil
	}
	return v
}

// anySlotBy tells whether any slot that holds timers starts at that time or before.
func (c *Circles) anySlotBy(at int64) bool {
	if c.occupied != 0 {
		if _, _, start := c.first(); start <= at {
			return true
		}
	}
	start, any := c.aheadStart()
	return any && start <= at
}

// prepareBeside is called for each timer that is due, with its deadline. Now and then it
// prepares what comes soon after that.
func (c *Circles) prepareBeside(at int64) {
	if c.sincePrepared++; c.sincePrepared >= prepareEvery {
		c.sincePrepared = 0
		c.pourCrowds(at, Verdict{}, prepareBudget)
	}
}

// goOnGathering goes on with next, which is not nil, and makes a queue of it when it is done.
func (c *Circles) goOnGathering(budget int) (done bool) {
	if done = c.gather(c.next, budget); done {
		c.enqueue(c.next)
		c.next = nil
	}
	return done
}

// gatherSmall begins to gather the first slot of l, which is circle k or its other side, unless
// that has too many timers, or there are too many queues, or another is being gathered.
func (c *Circles) gatherSmall(k int, l *level.Level, ahead bool) (begun bool) {
	s := l.First()
	if !c.gathers || c.next != nil || l.Len(s) > c.tuning.GatherUpTo || len(c.queues) >= maxQueues {
		return false
	}
	c.next = c.gatherFrom(k, s, ahead)
	return true
}

// gatherNested begins to gather the first slot of what was poured ahead, if it is a crowd and
// it is time. Otherwise at is when it will be time.
func (c *Circles) gatherNested(now int64) (at int64, begun bool) {
	at = math.MaxInt64
	if !c.gathers {
		return at, false
	}
	c.eachAhead(func(k int, a *ahead) bool {
		if a.Empty() || c.source(k, a).Len(a.slot) > 0 || !c.isCrowd(&a.Level, a.First()) || k == 1 {
			return false
		}
		begin := c.beginFor(k-1, &a.Level, a.start)
		if begin > now {
			at = min(at, begin)
			return false
		}
		begun = c.gatherSmall(k-1, &a.Level, true)
		return begun
	})
	return at, begun
}
