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
	crowded  uint32 // Invariant: bit k is set if circle k has a crowd
	entries  int    // Invariant: how many there are in all rings, runs, rests and the heap
	layout   circles.Layout
	tuning   Tuning
	arena    Arena

	// By circle. What was in the slot under the hand is in runs, or in the next finer circle, or is
	// still to be dealt there.
	circle [maxCircles]*ring // nil until it is first used
	runs   [maxCircles]*run
	rest   [maxCircles]chain
	passed heap // what was linked behind the hand

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

// InSlot is the number of nodes that were linked in slot s of circle k.
func (c *Circles) InSlot(k, s int) int {
	if r := c.circle[k]; r != nil {
		return int(r.slots[s].live)
	}
	return 0
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
		c.addTo(k, s, i, n)
	}
	c.sweepIfNeeded()
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
	c.sweepIfNeeded()
}

// Unlink takes n out. It stays alive.
func (c *Circles) Unlink(n *Node) {
	c.leave(n)
	n.relink(Unlinked, 0)
}

// Remove ends node i and returns which memory went with it.
func (c *Circles) Remove(i uint32, n *Node) Released {
	if k := n.circle(); k < Passed {
		b := &c.circle[k].slots[n.slot()]
		if last := len(b.tail) - 1; last > 0 && b.tail[last] == (entry{i, n.stamp()}) {
			b.tail = b.tail[:last] // it was set just now
			c.entries--
		}
	}
	c.leave(n)
	c.sweepIfNeeded()
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
	c.addTo(k, s, i, n)
}

// follow links node i, which has moved later than where its entry was, where it belongs by now. Its slot
// is being looked at, so it stays, even if that was its last node.
func (c *Circles) follow(i uint32, n *Node) {
	if k := n.circle(); k < Passed {
		c.circle[k].slots[n.slot()].live--
	}
	c.link(i, n)
}

func (c *Circles) addPassed(i uint32, n *Node) {
	c.passed.push(item{n.Key, n.Order(), entry{i, n.stamp()}})
	c.entries++
}

// addTo adds an entry for node i to slot s of circle k, or to the finer slot over which that was dealt.
func (c *Circles) addTo(k, s int, i uint32, n *Node) {
	r := c.circle[k]
	if r == nil {
		r = c.newRing(k)
		c.circle[k] = r
	}
	b := &r.slots[s]
	b.live++
	c.occupied |= 1 << uint(k)
	c.entries++
	for b.finer != nil {
		r.occupied |= 1 << uint(s)
		r = b.finer
		s = c.layout.SlotFor(r.circle, n.Key)
		b = &r.slots[s]
	}
	c.push(r, s, b, entry{i, n.stamp()})
}

// push adds e to b, which is slot s of r.
func (c *Circles) push(r *ring, s int, b *bag, e entry) {
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
// that nothing wakes up for it, unless entries were dealt there from a coarser circle.
func (c *Circles) leave(n *Node) {
	k, s := n.circle(), n.slot()
	if k >= Passed {
		return
	}
	r := c.circle[k]
	b := &r.slots[s]
	if b.live--; b.live == 0 && !c.borrows(k) {
		c.empty(b)
		c.vacate(r, s)
	}
}

// borrows reports whether circle k may have entries of nodes that were linked on a coarser circle.
func (c *Circles) borrows(k int) bool {
	for j := k + 1; j < c.layout.Circles(); j++ {
		if r := c.circle[j]; r != nil && r.slots[c.layout.SlotFor(j, c.hand)].live > 0 {
			return true
		}
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
