package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// Circles is the timing wheel. Init must be called before anything else.
//
// Times are nanoseconds. Deadlines may be negative. The present time that a call is given must not be negative, but may
// be earlier than in the call before.
type Circles struct {
	hand     int64  // Invariant: it never goes back
	occupied uint32 // Invariant: bit k is set iff circle k has an occupied slot
	running  uint32 // Invariant: bit k is set iff runs[k] is not nil
	open     uint32 // Invariant: bit k is set iff rest[k] holds entries
	crowded  uint32 // Invariant: bit k is set if circle k has crowds that are not cascaded
	entries  int    // Invariant: the number of entries in all slots, runs and rests, and in instant and passed
	layout   Layout
	tuning   Tuning
	fullUpTo int // number of full blocks from which on the next entry may make a slot a crowd
	arena    arena.Arena

	// These three are indexed by circle. The entries of a slot under the hand are in runs or in the next finer circle.
	// Entries that are still to be cascaded there are in rest.
	circle [16]*level.Circle        // nil until it is first used
	runs   [maxCircles]*level.Run   // Invariant: runs[0] is nil
	rest   *[maxCircles]arena.Chain // nil until the first crowd is due

	// These two may be crowds, and contain no stale entries: a node that leaves its place is taken out; see takeOut.
	instant ordered // entries of the slot under the hand of circle 0
	overdue ordered // entries that were linked behind the hand
	behind  int     // Invariant: the number of nodes that were linked behind the hand

	all     []*level.Circle // Invariant: the circles, and the sub-circles of slots; each at its Index
	swept   cursor
	store   store
	memory  arena.Memory
	touch   func(nodes []uint32)
	fetched [readTogether]uint32 // the argument of touch
	due     int                  // number of timers that Next has found due

	cascaded uint64 // number of entries that were cascaded
	visited  int    // number of entries that calls have visited
}

// Init makes c ready, with the hand at the time hand.
func (c *Circles) Init(layout Layout, tuning Tuning, hand int64) {
	c.layout, c.tuning, c.hand = layout, tuning, hand
	c.fullUpTo = tuning.SortUpTo / arena.BlockLen
}

// Arena returns the arena with the nodes. Callers may read it, but only c changes it.
func (c *Circles) Arena() *arena.Arena { return &c.arena }

// Fetch registers touch to be called with nodes that will soon be due, a few at once, so that it can fetch the memory
// that belongs to them.
func (c *Circles) Fetch(touch func(nodes []uint32)) { c.touch = touch }

// Cascaded returns the number of entries that were cascaded.
func (c *Circles) Cascaded() uint64 { return c.cascaded }

// Entries returns the number of entries, valid and stale, for tests.
func (c *Circles) Entries() int { return c.entries }

// Visited returns the number of entries that calls have visited, one by one, for tests.
func (c *Circles) Visited() int { return c.visited }

// InSlot returns the number of nodes that are linked in slot s of circle k. Nodes behind the hand count in the slot
// under it.
func (c *Circles) InSlot(k, s int) int {
	n := 0
	if k == 0 && s == c.layout.SlotFor(0, c.hand) {
		n = c.behind
	}
	if circle := c.circle[k]; circle != nil {
		n += int(circle.Live[s])
	}
	return n
}

// Add makes a new node and links it.
func (c *Circles) Add(now, deadline int64, sequence uint64, f arena.Flags) uint32 {
	if now-c.hand > lag {
		c.moveHand(now)
	}
	i := c.arena.Alloc()
	n := c.arena.At(i)
	if deadline < c.hand {
		n.Init(deadline, sequence, f, arena.Overdue, 0)
		c.addOverdue(i, n)
	} else {
		k := c.layout.CircleFor(deadline, c.hand)
		s := c.layout.SlotFor(k, deadline)
		n.Init(deadline, sequence, f, k, s)
		c.addTo(k, s, deadline, arena.Entry{Node: i, Stamp: n.Stamp()})
	}
	if c.entries > 2*c.arena.About()+sweepFrom {
		c.sweep()
	}
	return i
}

// Move gives node i a new deadline and order. If the slot of its entry is reached before the new deadline, the entry
// stays where it is, which costs one cache miss. It is moved when its slot is reached, once for any number of moves.
func (c *Circles) Move(i uint32, n *arena.Node, now, deadline int64, sequence uint64) {
	if deadline >= n.Key && n.Key > c.hand && n.Linked() {
		n.Rekey(deadline, sequence)
		return
	}
	if now-c.hand > lag {
		c.moveHand(now)
	}
	taken := c.takeOut(n)
	n.Rekey(deadline, sequence)
	if !taken && c.isBefore(n) {
		return
	}
	c.uncount(n)
	c.link(i, n)
	if c.entries > 2*c.arena.About()+sweepFrom {
		c.sweep()
	}
}

// Unlink removes n from its slot. The node stays alive.
func (c *Circles) Unlink(n *arena.Node) {
	c.leave(n)
	n.Relink(arena.Unlinked, 0)
}

// Remove ends node i and returns which memory was released with it.
func (c *Circles) Remove(i uint32, n *arena.Node) arena.Released {
	if n.Key <= c.hand {
		c.takeOut(n)
	}
	if k := n.Circle(); k < arena.Overdue {
		circle, s := c.circle[k&15], n.Slot()
		circle.Live[s&(level.Slots-1)]--
		if slot := circle.Slots[s&(level.Slots-1)]; slot != nil && slot.Undo(arena.Entry{Node: i, Stamp: n.Stamp()}) { // its entry is the last of the slot
			c.entries--
			if !slot.Holds() {
				c.vacate(circle, s)
			}
		}
	} else {
		c.uncount(n)
	}
	released := c.arena.Free(i, n)
	if c.entries > 2*c.arena.About()+sweepFrom {
		c.sweep()
	}
	return released
}

// leave stops counting n where it was linked. Its entry stays, unless it can be taken out.
func (c *Circles) leave(n *arena.Node) {
	c.takeOut(n)
	c.uncount(n)
}

// takeOut takes n out of the timers that are due and may be a crowd, and reports whether it was among them. It must be
// called before the deadline or the order of n changes. Otherwise as many stale entries as a crowd has could be before
// the next timer.
func (c *Circles) takeOut(n *arena.Node) bool {
	if n.Key > c.hand {
		return false
	}
	key, order := n.Key, n.Order()
	taken := c.instant.remove(key, order) || c.overdue.remove(key, order)
	if taken {
		c.entries--
	}
	return taken
}

// uncount stops counting n where it was linked.
func (c *Circles) uncount(n *arena.Node) {
	switch k := n.Circle(); {
	case k < arena.Overdue:
		c.circle[k].Live[n.Slot()]--
	case k == arena.Overdue:
		c.behind--
	}
}

// first returns the first occupied slot in time, and when it starts. There must be an occupied slot.
func (c *Circles) first() (k, s int, start int64) {
	k = bits.TrailingZeros32(c.occupied)
	s = c.circle[k].First()
	return k, s, c.layout.width(k).Start(s, c.hand)
}

// moveHand moves the hand as near to now as the first slot permits, so that new timers are placed in finer slots.
func (c *Circles) moveHand(now int64) {
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
