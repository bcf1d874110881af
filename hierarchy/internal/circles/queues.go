package circles

import "math"

// gathered is crowds that were taken out of their slots and sorted in arrays. Going along a
// list, the processor waits for the memory of each node before it knows where the next one is.
// Going along an array, it does not. This is several times as fast for a crowd whose nodes lie
// in memory in another order than that of their deadlines.
//
// Invariant: every node that is Gathered is in a queue or in next.
type gathered struct {
	queues   []queue
	inQueues int                        // how many nodes are Gathered: those of queues and of next
	entries  int                        // how many entries queues and next have, for those nodes and dead ones
	sweptTo  int                        // the queue that what is live in the first one is moved to, or 0
	from     struct{ circle, slot int } // what was gathered last

	sincePrepared int        // how many timers were due since prepareBeside prepared a crowd
	next          *gathering // what will be a queue, or nil
	idle          *gathering // to be used again, or nil
	buffers       [][]entry  // to be used again
	touch         func(i uint32)
}

// queue is nodes in order of deadline and of setting. Entries whose node has been moved or
// removed are dead. They stay until it is their turn, or until they are swept out.
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
		c.next, c.idle, c.buffers, c.entries = nil, nil, nil, 0
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
			c.dropQueue(k)
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
	for ; p.next < len(p.entries) && budget > 0; c.pass(p, 1) {
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

// gatherSlot takes all nodes of slot s of circle k, or of its other side, out and sorts them.
func (c *Circles) gatherSlot(k, s int, ahead bool) {
	g := c.gatherFrom(k, s, ahead)
	c.gather(g, math.MaxInt)
	c.enqueue(g)
}
