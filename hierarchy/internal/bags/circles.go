package bags

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
)

// Circles is the timing wheel. Init must be called before anything else.
//
// Times are nanoseconds, 0 or more unless the layout is Signed. The time of a call may be earlier
// than that of the call before.
type Circles struct {
	hand     int64  // Invariant: it never goes back
	occupied uint32 // Invariant: bit k is set iff circle k has an occupied slot
	running  uint32 // Invariant: bit k is set iff runs[k] is not nil
	open     uint32 // Invariant: bit k is set iff rest[k] holds entries
	lent     uint32 // Invariant: bit k is set if nodes that were linked in the slot under the hand of circle k have entries in finer ones
	crowded  uint32 // Invariant: bit k is set if circle k has a crowd
	entries  int    // Invariant: how many there are in all rings, runs, rests and the heap
	layout   circles.Layout
	tuning   Tuning
	fullUpTo int // how many full blocks a slot has that may grow to a crowd with the next entry
	arena    Arena

	// By circle. What was in the slot under the hand is in runs, or in the next finer circle, or is
	// still to be dealt there.
	circle [16]*ring // nil until it is first used
	runs   [maxCircles]*run
	rest   [maxCircles]chain
	passed heap // what was linked behind the hand
	behind int  // Invariant: how many nodes were linked there

	rings []*ring // all that there are
	swept cursor
	store store
	touch func(i uint32)
	due   int // timers that Next has found due

	dealt   uint64 // entries that were dealt over finer slots
	visited int    // entries that calls went through, for tests
}

// Init makes c ready, with the hand at that time.
func (c *Circles) Init(layout circles.Layout, tuning Tuning, hand int64) {
	c.layout, c.tuning, c.hand = layout, tuning, hand
	c.fullUpTo = tuning.SortUpTo / blockLen
}

// Arena is where the nodes live. Callers read it, and leave changes to c.
func (c *Circles) Arena() *Arena { return &c.arena }

// Fetch has touch called for nodes that will soon be due, a few at once, so that it can fetch from
// memory what goes with them.
func (c *Circles) Fetch(touch func(i uint32)) { c.touch = touch }

// Cascaded is how many entries were dealt over finer slots.
func (c *Circles) Cascaded() uint64 { return c.dealt }

// Visited is how many entries calls went through, one by one, for tests.
func (c *Circles) Visited() int { return c.visited }

// InSlot is the number of nodes that were linked in slot s of circle k. Those behind the hand count in
// the slot under it.
func (c *Circles) InSlot(k, s int) int {
	n := 0
	if k == 0 && s == c.layout.SlotFor(0, c.hand) {
		n = c.behind
	}
	if r := c.circle[k]; r != nil {
		n += int(r.slots[s].live)
	}
	return n
}

// Add makes a new node and links it.
func (c *Circles) Add(now, deadline int64, sequence uint64, f Flags) uint32 {
	if now-c.hand > lag {
		c.advance(now)
	}
	i := c.arena.Alloc()
	n := c.arena.At(i)
	if deadline < c.hand {
		n.init(deadline, sequence, f, Passed, 0)
		c.addPassed(i, n)
	} else {
		k := c.layout.CircleFor(deadline, c.hand)
		s := c.layout.SlotFor(k, deadline)
		n.init(deadline, sequence, f, k, s)
		c.addTo(k, s, deadline, entry{i, n.stamp()})
	}
	if c.entries > 2*c.arena.used+sweepFrom {
		c.sweep()
	}
	return i
}

// Move gives node i a new deadline and order. One that moves later stays where it is, which costs one
// cache miss. Its entry finds out when its turn comes, once for any number of moves.
func (c *Circles) Move(i uint32, n *Node, now, deadline int64, sequence uint64) {
	if deadline >= n.Key && n.Linked() {
		n.rekey(deadline, sequence)
		return
	}
	if now-c.hand > lag {
		c.advance(now)
	}
	n.rekey(deadline, sequence)
	c.leave(n)
	c.link(i, n)
	if c.entries > 2*c.arena.used+sweepFrom {
		c.sweep()
	}
}

// Unlink takes n out. It stays alive.
func (c *Circles) Unlink(n *Node) {
	c.leave(n)
	n.relink(Unlinked, 0)
}

// Remove ends node i and returns which memory went with it.
func (c *Circles) Remove(i uint32, n *Node) Released {
	if k := n.circle(); k < Passed {
		r, s := c.circle[k&15], n.slot()
		b := &r.slots[s]
		if last := len(b.tail) - 1; last > b.taken && b.tail[last] == (entry{i, n.stamp()}) {
			b.tail = b.tail[:last] // it was set just now
			c.entries--
		}
		if b.live--; b.live == 0 {
			c.left(r, s)
		}
	} else {
		c.leave(n)
	}
	if c.entries > 2*c.arena.used+sweepFrom {
		c.sweep()
	}
	return c.arena.Free(i, n)
}

// link adds an entry for node i where it belongs. No slot counts it.
func (c *Circles) link(i uint32, n *Node) {
	if n.Key < c.hand {
		n.relink(Passed, 0)
		c.addPassed(i, n)
		return
	}
	k := c.layout.CircleFor(n.Key, c.hand)
	s := c.layout.SlotFor(k, n.Key)
	n.relink(k, s)
	c.addTo(k, s, n.Key, entry{i, n.stamp()})
}

// follow links node i, which has moved later than where its entry was, where it belongs by now. Its slot
// is being looked at, so it stays, even if that was its last node.
func (c *Circles) follow(i uint32, n *Node) {
	if k := n.circle(); k < Passed {
		c.circle[k].slots[n.slot()].live--
	} else {
		c.behind--
	}
	c.link(i, n)
}

func (c *Circles) addPassed(i uint32, n *Node) {
	c.passed.push(item{n.Key, n.Order(), entry{i, n.stamp()}})
	c.entries++
	c.behind++
}

// addTo adds e, of a node with that deadline, to slot s of circle k, or to the finer slot over which that was
// dealt.
func (c *Circles) addTo(k, s int, key int64, e entry) {
	r := c.circle[k&15]
	if r == nil {
		r = c.ring(k)
	}
	c.entries++
	b := &r.slots[s]
	b.live++
	if len(b.tail) == cap(b.tail) || b.finer != nil || len(b.full) >= c.fullUpTo && r.crowds>>uint(s)&1 == 0 {
		c.put(r, s, key, e)
		return
	}
	if b.chain.len() == 0 {
		b.least, b.most = key, key
		r.occupied |= 1 << uint(s)
		c.occupied |= 1 << uint(k)
	}
	b.least, b.most = min(b.least, key), max(b.most, key)
	b.tail = append(b.tail, e)
}

// put adds e, whose node has that deadline, to slot s of r, which is a circle's, or to the finer slot over
// which that was dealt.
func (c *Circles) put(r *ring, s int, key int64, e entry) {
	c.occupied |= 1 << uint(r.circle)
	for r.slots[s].finer != nil {
		r.occupied |= 1 << uint(s)
		r = r.slots[s].finer
		s = c.layout.SlotFor(r.circle, key)
	}
	c.push(r, s, key, e)
}

// ring is circle k.
func (c *Circles) ring(k int) *ring {
	if c.circle[k] == nil {
		c.circle[k] = c.newRing(k)
	}
	return c.circle[k]
}

// push adds e, whose node has that deadline, to slot s of r.
func (c *Circles) push(r *ring, s int, key int64, e entry) {
	b := &r.slots[s]
	if b.chain.len() == 0 {
		b.least, b.most = key, key
	}
	b.least, b.most = min(b.least, key), max(b.most, key)
	r.occupied |= 1 << uint(s)
	c.store.add(&b.chain, e)
	if r.circle > 0 && b.chain.len() > c.tuning.SortUpTo {
		r.crowds |= 1 << uint(s)
		if c.circle[r.circle] == r {
			c.crowded |= 1 << uint(r.circle)
		}
	}
}

// leave counts n no longer where it was linked. A slot that was left by its last node is emptied, so
// that nothing wakes up for it.
func (c *Circles) leave(n *Node) {
	k, s := n.circle(), n.slot()
	if k >= Passed {
		if k == Passed {
			c.behind--
		}
		return
	}
	r := c.circle[k]
	if r.slots[s].live--; r.slots[s].live == 0 {
		c.left(r, s)
	}
}

// left empties slot s of r, whose last node has left it, unless entries were dealt there from a coarser circle.
func (c *Circles) left(r *ring, s int) {
	if !c.borrows(r.circle) {
		c.empty(&r.slots[s])
		c.vacate(r, s)
	}
}

// borrows reports whether circle k may have entries of nodes that were linked on a coarser circle.
func (c *Circles) borrows(k int) bool {
	for lent := c.lent >> uint(k+1) << uint(k+1); lent != 0; lent &= lent - 1 {
		j := bits.TrailingZeros32(lent)
		if c.circle[j].slots[c.layout.SlotFor(j, c.hand)].live > 0 {
			return true
		}
		c.lent &^= 1 << uint(j)
	}
	return false
}

// vacate notes that slot s of r holds nothing.
func (c *Circles) vacate(r *ring, s int) {
	r.occupied &^= 1 << uint(s)
	r.crowds &^= 1 << uint(s)
	if r.occupied == 0 && c.circle[r.circle] == r {
		c.occupied &^= 1 << uint(r.circle)
	}
}

// first is the first occupied slot in time, and when it starts. One must be occupied.
func (c *Circles) first() (k, s int, start int64) {
	k = bits.TrailingZeros32(c.occupied)
	s = c.circle[k].first()
	return k, s, c.layout.SlotStart(k, s, c.hand)
}

// advance moves the hand as near to now as the first slot lets it, so that new timers are placed
// finely.
func (c *Circles) advance(now int64) {
	if c.open != 0 {
		return
	}
	if c.occupied != 0 {
		if _, _, start := c.first(); start <= now {
			now = start - 1
		}
	}
	c.hand = max(c.hand, now)
}
