package circles

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// harvest is a crowd that is due, in an array that is sorted. Going along a list, the
// processor waits for the memory of each node before it knows where the next one is. Going
// along an array, it does not, so this is several times as fast for a crowd whose memory is
// in another order than its deadlines.
type harvest struct {
	// Invariant: every live node that is in no slot is in here, and no node is that would
	// come before one that was taken out.
	// Entries whose node has been moved or removed stay until it is their turn.
	crop []reaped
	// How many of crop are left when the next are to be fetched from memory.
	fetchAt int
	fetched int // read by nobody, but it makes the processor fetch nodes
}

// reaped is a node in the crop.
type reaped struct {
	key   int64
	index uint32
}

// reapedRow is the slots of one circle that are reaped: a bit for each.
type reapedRow uint64

// harvestIfRipe takes the crowds whose time has come at now out of their slots and sorts
// them all, if one comes first, and they are worth looking at every node there is.
func (c *Circles) harvestIfRipe(now int64) {
	if c.occupied == 0 {
		return
	}
	k, s, start := c.first()
	if k == 0 || !c.isCrowd(&c.circle[k], s) || c.layout.slotEnd(k, start) > now {
		return
	}
	if rows, n := c.ripe(now); n*c.tuning.SweepRatio >= c.arena.Entries() {
		c.crop = c.sortCrop(c.reap(rows, n))
		c.fetchAt = n
	}
}

// ripe is the slots that are not sorted and whose end has come at now, and how many nodes
// they hold.
func (c *Circles) ripe(now int64) (rows [maxCircles]reapedRow, n int) {
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

// reap takes n nodes out, those of the slots in rows, in the order of memory.
func (c *Circles) reap(rows [maxCircles]reapedRow, n int) []reaped {
	crop := make([]reaped, 0, n)
	c.arena.Each(func(i uint32, n *level.Node) {
		k := n.Circle()
		if k != level.Unlinked && rows[k]>>uint(n.Slot())&1 != 0 && !c.onAhead(n) {
			crop = append(crop, reaped{n.Key, i})
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
	return crop
}

// radixBits is how many bits of the deadlines are sorted by at once: the counters fit in the
// fastest cache.
const radixBits = 11

// sortCrop sorts by deadline, and by order where deadlines are equal.
func (c *Circles) sortCrop(crop []reaped) []reaped {
	lo, hi := crop[0].key, crop[0].key
	for _, r := range crop {
		lo, hi = min(lo, r.key), max(hi, r.key)
	}
	spare := make([]reaped, len(crop))
	for shift := 0; shift < bits.Len64(uint64(hi-lo)); shift += radixBits {
		dealByDigit(spare, crop, lo, shift)
		crop, spare = spare, crop
	}
	for i := 0; i < len(crop); {
		j := i + 1
		for j < len(crop) && crop[j].key == crop[i].key {
			j++
		}
		if j > i+1 {
			c.sortInstant(crop[i:j])
		}
		i = j
	}
	return crop
}

// dealByDigit copies from to to, sorted by the digit at that shift of how much the deadline
// is above lo. Those whose digits are equal stay in their order.
func dealByDigit(to, from []reaped, lo int64, shift int) {
	const mask = 1<<radixBits - 1
	var next [1 << radixBits]int32
	for _, r := range from {
		next[uint64(r.key-lo)>>shift&mask]++
	}
	sum := int32(0)
	for d, n := range next {
		next[d], sum = sum, sum+n
	}
	for _, r := range from {
		d := uint64(r.key-lo) >> shift & mask
		to[next[d]] = r
		next[d]++
	}
}

// sortInstant sorts by order what has one deadline.
func (c *Circles) sortInstant(crop []reaped) {
	slices.SortFunc(crop, func(x, y reaped) int {
		return cmp.Compare(c.arena.At(x.index).Order(), c.arena.At(y.index).Order())
	})
}

// NextInOrder is Next where order is kept. It harvests crowds that are due, if no node was in
// no slot before.
func (c *Circles) NextInOrder(now int64) Verdict {
	i, at, ok := c.firstReaped()
	if !ok {
		c.harvestIfRipe(now)
		if i, at, ok = c.firstReaped(); !ok {
			return c.Next(now, math.MaxInt)
		}
	}
	v := c.Next(min(now, at), math.MaxInt)
	if v.State == Due && c.arena.At(v.Node).Before(c.arena.At(i)) {
		return v
	}
	if at > now {
		return Verdict{State: NotBefore, At: at}
	}
	return Verdict{State: Due, Node: i, At: at}
}

// firstReaped is the first node of the crop that is still in no slot, and its deadline.
func (c *Circles) firstReaped() (i uint32, at int64, ok bool) {
	for ; len(c.crop) > 0; c.crop = c.crop[1:] {
		if len(c.crop) <= c.fetchAt {
			c.fetch()
		}
		r := c.crop[0]
		if c.arena.Unlinked(r.index) {
			return r.index, r.key, true
		}
	}
	c.crop = nil
	return 0, 0, false
}

// fetch reads the next few nodes. Nothing here waits for what is read, so the processor waits
// for all of them at once. One by one, each would take as long as all do.
func (c *Circles) fetch() {
	const few = 16
	next := c.crop[:min(few, len(c.crop))]
	for _, r := range next {
		if c.arena.Unlinked(r.index) {
			c.fetched++
		}
	}
	c.fetchAt = len(c.crop) - len(next)
}
