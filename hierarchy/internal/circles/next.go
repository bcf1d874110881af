package circles

import (
	"github.com/epicycle-go/epicycle/level"
)

import "math"

// State is the kind of a Verdict.
type State uint8

const (
	// Empty means that there is no timer.
	Empty State = iota
	// Due means that the earliest timer is due.
	Due
	// NotBefore means that no timer is due before a time that is later than now.
	NotBefore
	// AskAgain means that there was too much to do for one call.
	AskAgain
)

// Verdict is the result of Next.
type Verdict struct {
	State State
	Node  uint32 // with Due: the earliest timer; with NotBefore: a timer that is due first, or 0 if unknown
	At    int64  // with Due: the deadline of Node; with NotBefore: the time before which no timer is due
}

// Unlimited is a budget with which Next always finds the earliest timer of all. With it, Next cascades nothing ahead: its
// caller calls CascadeAhead.
const Unlimited = math.MaxInt

// Next finds the earliest timer and reports whether it is due. It visits no more than about budget entries. All
// invariants hold after each call, so the caller may release its lock between calls.
//
// While a slot under the hand is still being cascaded, the result is the earliest of all other timers, since timers that
// are due do not wait for a crowd. With an Unlimited budget, the result is the earliest of all timers.
func (c *Circles) Next(now int64, budget int) Verdict {
	for left := budget; left > 0; left-- {
		left = c.cascadeOpen(now, left, budget == Unlimited)
		x, sorted := c.head()
		if cost := c.openFirst(now, x, sorted); cost > 0 {
			left -= cost
			continue
		}
		switch {
		case sorted && x.Key <= now:
			c.beside(now, budget)
			return Verdict{State: Due, Node: x.Node, At: x.Key}
		case c.open&^1 != 0 || c.open != 0 && c.instant.n == 0: // rest may hold an earlier timer, unless its instant is being fired
		case c.occupied != 0:
			before := c.visited
			if v, known := c.notBefore(x, sorted, budget); known {
				return c.meanwhile(now, v, left, budget)
			}
			left -= c.visited - before
		case sorted:
			return Verdict{State: NotBefore, Node: x.Node, At: x.Key}
		default:
			c.hand = max(c.hand, now)
			c.trim()
			return Verdict{State: Empty}
		}
	}
	if x, sorted := c.head(); sorted && x.Key <= now {
		return Verdict{State: Due, Node: x.Node, At: x.Key}
	}
	return Verdict{State: AskAgain}
}

// NextDue returns the earliest timer if it is due, or 0. Unlike Next with an unlimited budget, it does not visit a
// crowd whose time has not come.
func (c *Circles) NextDue(now int64) uint32 {
	for {
		c.cascadeOpen(now, Unlimited, true)
		x, sorted := c.head()
		switch {
		case c.openFirst(now, x, sorted) > 0:
		case sorted && x.Key <= now:
			return x.Node
		default:
			return 0
		}
	}
}

// openFirst opens the first slot if the time of the slot has come, and x, the earliest sorted item, is not before it. A
// slot that is still being cascaded on the same circle or a finer one comes first. openFirst returns the number of entries
// that it has visited, or 0 if it has opened no slot.
func (c *Circles) openFirst(now int64, x level.Item, sorted bool) (cost int) {
	if c.occupied == 0 {
		return 0
	}
	k, s, start := c.first()
	finerDone := c.open&(2<<uint(k)-1) == 0
	if start <= now && (!sorted || start <= x.Key) && finerDone {
		return c.openSlot(k, s, start)
	}
	return 0
}

// notBefore returns the result of Next when nothing is due, x is the earliest sorted item, and there are slots. known
// is false if notBefore has changed the circles, so that the caller must look again.
func (c *Circles) notBefore(x level.Item, sorted bool, budget int) (v Verdict, known bool) {
	k, s, start := c.first()
	y, known := c.firstOf(c.circle[k], s, start, budget)
	if !known || sorted && x.Key < y.Key {
		y = x
	}
	return Verdict{State: NotBefore, At: y.Key, Node: y.Node}, known
}

// meanwhile cascades crowds ahead, since nothing is due before the time in v. It changes v so that the caller calls again
// in time for the next crowd.
func (c *Circles) meanwhile(now int64, v Verdict, left, budget int) Verdict {
	if c.crowded == 0 || budget == Unlimited {
		return v
	}
	left, begin := c.CascadeAhead(now, left)
	if left <= 0 {
		return Verdict{State: AskAgain}
	}
	if begin < v.At {
		v.At, v.Node = begin, 0
	}
	return v
}

// beside cascades some entries of crowds ahead, at every besideEvery-th timer that is found due.
func (c *Circles) beside(now int64, budget int) {
	if c.crowded == 0 || budget == Unlimited {
		return
	}
	if c.due++; c.due%besideEvery == 0 {
		c.CascadeAhead(now, besideBudget)
	}
}

// firstOf returns the earliest item of slot s of a circle, which starts at start. If the slot is a crowd and budget is not
// Unlimited, it returns a time before which no timer is due, without a node. found is false if firstOf has changed the
// circles.
func (c *Circles) firstOf(circle *level.Circle, s int, start int64, budget int) (first level.Item, found bool) {
	for {
		slot := circle.Slots[s]
		switch {
		case slot.Sub == nil && slot.Run != nil && c.isLarge(slot):
			c.unsort(slot)
		case c.isInstant(slot):
			return c.firstOfInstant(circle, s, slot)
		case !c.isCrowd(circle.Number, slot):
			return c.firstIn(circle, s, slot, start)
		case slot.Sub != nil && slot.Len() == 0 && slot.Run == nil:
			if slot.Sub.Occupied == 0 {
				c.empty(slot)
				c.vacate(circle, s)
				return level.Item{}, false
			}
			circle, s = slot.Sub, slot.Sub.First()
			start = circle.Start(s, start)
		case budget != Unlimited:
			return level.Item{Key: max(start, slot.Least)}, true
		default:
			c.cascadeSlot(circle, s, start, Unlimited)
		}
	}
}

// firstIn sorts slot s of a circle, which is no crowd, and returns its earliest item. found is false if the slot has
// changed, or has become empty.
func (c *Circles) firstIn(circle *level.Circle, s int, slot *level.Slot, start int64) (first level.Item, found bool) {
	c.sortSlot(circle.Number, slot, start)
	x, moved := c.headOf(slot.Run)
	switch {
	case moved:
	case x == nil:
		c.empty(slot)
		c.vacate(circle, s)
	default:
		return *x, true
	}
	return level.Item{}, false
}

// firstOfInstant is firstIn for a slot with a single instant. It drops at most a few stale entries.
func (c *Circles) firstOfInstant(circle *level.Circle, s int, slot *level.Slot) (first level.Item, found bool) {
	moved := false
	for n := 0; n < readTogether && slot.Len() > 0 && !moved; n++ {
		e := slot.From(0, 1)[0]
		if n := c.arena.At(e.Node); n.Named(e.Stamp) && n.Key == slot.Least {
			return level.ItemOf(n, e), true
		}
		c.visited++
		c.memory.Take(&slot.Chain, 1)
		moved = c.drop(e) // the node may be linked to this slot again
	}
	if slot.Len() == 0 {
		c.empty(slot)
		c.vacate(circle, s)
	}
	return level.Item{}, false
}
