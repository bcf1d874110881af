package circles

import (
	"math"
	"slices"
)

// sweptPerGone is how many entries are gone through for each node that leaves its queue while too
// many are dead.
const sweptPerGone = 32

// leaveQueue is called when a gathered node is moved or removed. Its entry is dead from now on, and
// stays. Once most are dead, some are swept out at each call. So memory stays in proportion to the
// nodes whatever moves, and no call goes through many.
func (c *Circles) leaveQueue() {
	c.inQueues--
	if dead := c.entries - c.inQueues; dead > c.inQueues+c.tuning.DeadUpTo {
		c.sweepQueues(sweptPerGone)
	}
}

// sweepQueues goes through some entries of the first queue, and moves those that are live to
// another one, behind all others. Queues that are merged and made meanwhile are behind, too. So each
// has its turn to be the first.
func (c *Circles) sweepQueues(budget int) {
	if c.next != nil && c.next.taken() > c.entries/2 { // it has most of them
		c.goOnGathering(budget)
		return
	}
	if c.sweptTo == 0 {
		c.sweptTo = len(c.queues)
		c.queues = append(c.queues, queue{entries: c.buffer(0), first: c.queues[0].first, last: c.queues[0].last})
	}
	from, to := &c.queues[0], &c.queues[c.sweptTo]
	swept := from.entries[from.next:min(from.next+budget, len(from.entries))]
	for _, e := range swept {
		if c.stillGathered(e) {
			to.entries = append(to.entries, e)
			c.entries++
		}
	}
	c.visited += len(swept)
	c.pass(from, len(swept))
	if from.left() == 0 {
		c.dropQueue(0)
	}
}

// pass passes n entries of p, and frees the memory of all that it has passed once that is most.
func (c *Circles) pass(p *queue, n int) {
	p.next += n
	c.entries -= n
	if p.next > c.tuning.DeadUpTo && p.next > 3*p.left() {
		p.entries = slices.Clone(p.entries[p.next:])
		p.fetchAt -= min(p.fetchAt, p.next)
		p.next = 0
	}
}

// taken is how many nodes were taken out of the slot.
func (g *gathering) taken() int {
	return len(g.sort.from) + len(g.head) + len(g.all) - min(g.tail, len(g.all))
}

// dropQueue forgets a queue.
func (c *Circles) dropQueue(k int) {
	c.entries -= c.queues[k].left()
	c.giveBack(c.queues[k].entries)
	c.queues = slices.Delete(c.queues, k, k+1)
	c.sweptTo = 0
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
	c.visited += best
	p, q := &c.queues[x], &c.queues[y]
	live, others := c.live(p), c.live(q)
	merged := queue{entries: c.buffer(len(live) + len(others)), first: min(p.first, q.first), last: max(p.last, q.last)}
	merge(merged.entries, live, others)
	c.dropQueue(y)
	c.dropQueue(x)
	c.queues = append(c.queues, merged)
	c.entries += merged.left()
}

// live is what is live of p, in the place of all that it has.
func (c *Circles) live(p *queue) []entry {
	return slices.DeleteFunc(p.entries[p.next:], func(e entry) bool { return !c.stillGathered(e) })
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
