package circles

import (
	"math"
	"math/bits"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// harvest is crowds that were taken out of their slots and sorted in arrays. Going along a
// list, the processor waits for the memory of each node before it knows where the next one is.
// Going along an array, it does not, so this is several times as fast for a crowd whose memory
// is in another order than its deadlines.
//
// Invariant: every live node that is in no slot is in a crop or in growing.
type harvest struct {
	crops   []crop  // none is empty for long
	growing *growth // a crop of the future, or nil
	idle    *growth // for the next crop, or nil
	buffers [][]reaped
	touch   func(i uint32)
}

// crop is nodes in order of deadline and of setting. Entries whose node has been moved or
// removed stay until it is their turn.
type crop struct {
	entries []reaped
	next    int // those before it were taken out
	fetchAt int // at this one, the next few are fetched from memory
}

// reaped is a node in a crop.
type reaped struct {
	key   int64
	index uint32
	order uint32 // the low bits: memory that is used again has another node in it
}

// maxCrops is how many crops there may be. All are asked for the earliest timer.
const maxCrops = 4

// NextInOrder is Next where order is kept. It takes crowds out of their slots and sorts them.
func (c *Circles) NextInOrder(now int64) Verdict {
	for {
		limit := now
		i, at, ok := c.firstReaped()
		if ok {
			limit = min(now, at)
		}
		if c.growing != nil && c.growing.start <= limit {
			c.finishGrowing()
			continue
		}
		switch v := c.Next(limit, math.MaxInt); {
		case v.State == reapedSlot:
			continue
		case v.State == Due && (!ok || c.arena.At(v.Node).Before(c.arena.At(i))):
			return v
		case ok && at <= now:
			return Verdict{State: Due, Node: i, At: at}
		default:
			return c.withHarvest(v, at, ok)
		}
	}
}

// withHarvest is v, which says that nothing in a slot is due, for what is in no slot as well.
func (c *Circles) withHarvest(v Verdict, at int64, ok bool) Verdict {
	if c.arena.Len() == 0 {
		c.growing, c.idle, c.buffers = nil, nil, nil
		return v
	}
	if c.growing != nil && (!ok || c.growing.start < at) {
		at, ok = c.growing.start, true
	}
	if ok && (v.State == Empty || at < v.At) {
		return Verdict{State: NotBefore, At: at}
	}
	return v
}

// firstReaped is the first node of all crops, and its deadline.
func (c *Circles) firstReaped() (i uint32, at int64, ok bool) {
	for k := 0; k < len(c.crops); {
		j, key := c.headOf(&c.crops[k])
		switch {
		case j == 0:
			c.giveBack(c.crops[k].entries)
			c.crops = slices.Delete(c.crops, k, k+1)
			continue
		case !ok || key < at || key == at && c.arena.At(j).Before(c.arena.At(i)):
			i, at, ok = j, key, true
		}
		k++
	}
	return i, at, ok
}

// headOf is the first node of p that is still in no slot, or 0, and its deadline.
func (c *Circles) headOf(p *crop) (i uint32, at int64) {
	for ; p.next < len(p.entries); p.next++ {
		if p.next >= p.fetchAt {
			c.fetch(p)
		}
		if r := p.entries[p.next]; c.stillReaped(r) {
			return r.index, r.key
		}
	}
	return 0, 0
}

func (c *Circles) stillReaped(r reaped) bool {
	return c.arena.Unlinked(r.index, r.key, r.order)
}

// fetch reads the next few nodes. Nothing here waits for what is read, so the processor waits
// for all of them at once. One by one, each would take as long as all do.
func (c *Circles) fetch(p *crop) {
	const few = 16
	p.fetchAt = min(p.next+few, len(p.entries))
	for _, r := range p.entries[p.next:p.fetchAt] {
		if c.stillReaped(r) {
			c.touch(r.index)
		}
	}
}

// canReap tells whether there is room for one more crop, besides the growing one.
func (c *Circles) canReap() bool { return len(c.crops) < maxCrops-1 }

// reapSlot takes all nodes of slot s of circle k out and sorts them.
func (c *Circles) reapSlot(k, s int) {
	g := c.growSlot(k, s, false)
	c.grow(g, math.MaxInt)
	c.reapGrown(g)
}

// Harvest takes all slots whose end has come at now out and sorts their timers, if these are
// worth looking at every node there is. Callers do that once after a crowd may have been set,
// as it takes long.
func (c *Circles) Harvest(now int64) {
	rows, n := c.ripe(now)
	if n < c.tuning.PourAheadFrom || n*c.tuning.SweepRatio < c.arena.Entries() || !c.canReap() {
		return
	}
	g := c.newGrowth(n)
	c.sweep(g, rows)
	c.endTaking(g)
	g.sort.run(math.MaxInt)
	c.reapGrown(g)
}

// ripeSlots is the slots of one circle that are ripe: a bit for each.
type ripeSlots uint64

// ripe is the slots that are not sorted and whose end has come at now, and how many nodes
// they hold.
func (c *Circles) ripe(now int64) (rows [maxCircles]ripeSlots, n int) {
	for k := range c.layout.count {
		l := &c.circle[k]
		for s := range level.Slots {
			if l.Len(s) > 0 && !l.Sorted(s) && c.layout.slotEnd(k, c.layout.slotStart(k, s, c.hand)) <= now {
				rows[k] |= 1 << uint(s)
				n += l.Len(s)
			}
		}
	}
	return rows, n
}

// sweep takes all nodes out of the slots in rows, in the order of memory.
func (c *Circles) sweep(g *growth, rows [maxCircles]ripeSlots) {
	c.visited += c.arena.Len()
	c.arena.Each(func(i uint32, n *level.Node) {
		k := n.Circle()
		if k != level.Unlinked && rows[k]>>uint(n.Slot())&1 != 0 && !c.onAhead(n) {
			g.head = append(g.head, g.take(i, n))
			n.Unlink()
		}
	})
	for k, row := range rows {
		for ; row != 0; row &= row - 1 {
			c.circle[k].Clear(bits.TrailingZeros64(uint64(row)))
		}
		if c.circle[k].Empty() {
			c.occupied &^= 1 << uint(k)
		}
	}
}
