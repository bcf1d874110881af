package circles

import (
	"math"
	"slices"
)

// gathered is crowds that were taken out of their slots and sorted in arrays. Going along a
// list, the processor waits for the memory of each node before it knows where the next one is.
// Going along an array, it does not. This is several times as fast for a crowd whose nodes lie
// in memory in another order than that of their deadlines.
//
// Invariant: every node that is Gathered is in a queue or in next.
type gathered struct {
	queues   []queue
	inQueues int                        // how many nodes are Gathered: those of queues and of next
	from     struct{ circle, slot int } // what was gathered last

	sincePrepared int        // how many timers were due since prepareBeside prepared a crowd
	next          *gathering // what will be a queue, or nil
	idle          *gathering // to be used again, or nil
	buffers       [][]entry  // to be used again
	touch         func(i uint32)
}

// queue is nodes in order of deadline and of setting. Entries whose node has been moved or
// removed stay until it is their turn.
type queue struct {
	entries []entry
	next    int // those before it were taken out
	fetchAt int // at this one, the next few are fetched from memory

	first, last uint64 // no order is before, or after
}

// entry is a node in a queue.
type entry struct {
	key   int64
	index uint32
	order uint32 // the low bits: memory that is used again has another node in it
}

// maxQueues is how many queues there may be, or else two are merged. All are asked for their
// earliest node each time.
const maxQueues = 8

// NextInOrder is Next where order is kept. It takes crowds out of their slots and sorts them.
func (c *Circles) NextInOrder(now int64) Verdict {
	for {
		limit := now
		i, at, ok, _ := c.firstGathered(math.MaxInt)
		if ok {
			limit = min(now, at)
		}
		if c.next != nil && c.next.start <= limit {
			c.finishNext()
			continue
		}
		switch v := c.nextInSlots(limit, math.MaxInt, false); {
		case v.State == slotGathered:
			continue
		case v.State == Due && (!ok || c.arena.At(v.Node).Before(c.arena.At(i))):
			return v
		case ok && at <= now:
			return Verdict{State: Due, Node: i, At: at}
		default:
			return c.withGathered(v, at, ok)
		}
	}
}

// withGathered is v, which says that nothing in a slot is due, for what is in no slot as well.
func (c *Circles) withGathered(v Verdict, at int64, ok bool) Verdict {
	if c.arena.Len() == 0 {
		c.next, c.idle, c.buffers = nil, nil, nil
		return v
	}
	if c.next != nil && (!ok || c.next.start < at) {
		at, ok = c.next.start, true
	}
	if ok && (v.State == Empty || at < v.At) {
		return Verdict{State: NotBefore, At: at}
	}
	return v
}

// firstGathered is the first node of all queues, and its deadline. It skips no more than
// budget entries, and returns how many more it could. If that is 0, it has not found out.
func (c *Circles) firstGathered(budget int) (i uint32, at int64, ok bool, left int) {
	for k := 0; k < len(c.queues) && budget > 0; {
		j, key := uint32(0), int64(0)
		j, key, budget = c.headOf(&c.queues[k], budget)
		switch {
		case j == 0 && budget > 0:
			c.giveBack(c.queues[k].entries)
			c.queues = slices.Delete(c.queues, k, k+1)
			continue
		case j != 0 && (!ok || key < at || key == at && c.arena.At(j).Before(c.arena.At(i))):
			i, at, ok = j, key, true
		}
		k++
	}
	return i, at, ok, budget
}

// headOf is the first node of p that is still in no slot, or 0, and its deadline. It skips no
// more than budget entries, and returns how many more it could.
func (c *Circles) headOf(p *queue, budget int) (i uint32, at int64, left int) {
	for ; p.next < len(p.entries) && budget > 0; p.next++ {
		if p.next >= p.fetchAt {
			c.fetch(p)
		}
		if e := p.entries[p.next]; c.stillGathered(e) {
			return e.index, e.key, budget
		}
		budget--
	}
	return 0, 0, budget
}

// stillGathered tells whether the node of e was neither moved nor removed.
func (c *Circles) stillGathered(e entry) bool {
	return c.arena.Gathered(e.index, e.key, e.order)
}

// fetch reads the next few nodes. Nothing here waits for what is read, so the processor waits
// for all of them at once. One by one, each would take as long as all do.
func (c *Circles) fetch(p *queue) {
	const few = 16
	p.fetchAt = min(p.next+few, len(p.entries))
	for _, e := range p.entries[p.next:p.fetchAt] {
		if c.stillGathered(e) {
			c.touch(e.index)
		}
	}
}

// mergeShortest merges the two queues that have the least to come. So a few timers at a time
// may join a crowd, and each is seldom merged.
func (c *Circles) mergeShortest() {
	best, x, y := math.MaxInt, 0, 0
	for j := range c.queues {
		for i := range j {
			p, q := &c.queues[i], &c.queues[j]
			if n := p.left() + q.left(); n < best && mergeable(p, q) {
				best, x, y = n, i, j
			}
		}
	}
	if x == y {
		return
	}
	p, q := &c.queues[x], &c.queues[y]
	merged := queue{entries: c.buffer(best), first: min(p.first, q.first), last: max(p.last, q.last)}
	merge(merged.entries, p.entries[p.next:], q.entries[q.next:])
	c.visited += best
	c.giveBack(p.entries)
	c.giveBack(q.entries)
	*p = merged
	c.queues = slices.Delete(c.queues, y, y+1)
}

// left is how many entries are still to come.
func (p *queue) left() int { return len(p.entries) - p.next }

// mergeable tells whether low bits of orders tell which is first, in p and q together.
func mergeable(p, q *queue) bool {
	return max(p.last, q.last)-min(p.first, q.first) <= math.MaxInt32
}

// before tells whether x comes before y, where the low bits of their orders tell.
func (x entry) before(y entry) bool {
	return x.key < y.key || x.key == y.key && int32(x.order-y.order) < 0
}

// merge merges x and y, which are in order, into to.
func merge(to, x, y []entry) {
	for i := range to {
		if len(y) == 0 || len(x) > 0 && !y[0].before(x[0]) {
			to[i], x = x[0], x[1:]
		} else {
			to[i], y = y[0], y[1:]
		}
	}
}

// gatherSlot takes all nodes of slot s of circle k, or of its other side, out and sorts them.
func (c *Circles) gatherSlot(k, s int, ahead bool) {
	g := c.gatherFrom(k, s, ahead)
	c.gather(g, math.MaxInt)
	c.enqueue(g)
}
