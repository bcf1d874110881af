package bags

import (
	"math"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
)

// Verdict is what Next found.
type Verdict = circles.Verdict

// Unlimited is a budget with which Next always finds the earliest timer of all. It deals nothing ahead
// then: its caller does, by DealAhead.
const Unlimited = math.MaxInt

// Next finds the earliest timer and says whether it is due. It goes through no more than about budget
// entries. All invariants hold after each call, so the caller may release its lock between calls.
//
// While a slot under the hand is still being dealt, the earliest timer is that of all others, unless
// the budget is Unlimited: timers that are due do not wait for a crowd.
func (c *Circles) Next(now int64, budget int) Verdict {
	for left := budget; left > 0; {
		left = c.dealOpen(left, budget == Unlimited)
		x, sorted := c.head()
		if c.occupied != 0 {
			k, s, start := c.first()
			switch {
			case start <= now && (!sorted || start <= x.key):
				if c.open&(2<<uint(k)-1) == 0 { // what is finer has been dealt
					left -= c.openSlot(k, s, start)
					continue
				}
			case c.open != 0: // it may hold something earlier than what is known
			case !sorted || x.key > now:
				v, known := c.notBefore(k, s, start, x, sorted, budget)
				if !known {
					left--
					continue
				}
				return c.meanwhile(now, v, left, budget)
			}
		}
		switch {
		case sorted && x.key <= now:
			c.beside(now, budget)
			return Verdict{State: circles.Due, Node: x.node, At: x.key}
		case c.open != 0: // it may hold something earlier
		case sorted:
			return Verdict{State: circles.NotBefore, Node: x.node, At: x.key}
		default:
			c.hand = max(c.hand, now)
			return Verdict{State: circles.Empty}
		}
	}
	if x, sorted := c.head(); sorted && x.key <= now {
		return Verdict{State: circles.Due, Node: x.node, At: x.key}
	}
	return Verdict{State: circles.AskAgain}
}

// notBefore is the answer of Next when nothing is due: slot s of circle k is the first one, starts at
// start, and x is the earliest item that is sorted. known is false if it has changed something.
func (c *Circles) notBefore(k, s int, start int64, x item, sorted bool, budget int) (v Verdict, known bool) {
	y, known := c.firstOf(c.circle[k], s, start, budget)
	if !known || sorted && x.key < y.key {
		y = x
	}
	return Verdict{State: circles.NotBefore, At: y.key, Node: y.node}, known
}

// meanwhile deals crowds ahead, as nothing is due before the time in v, and has the caller come back in
// time for the next one.
func (c *Circles) meanwhile(now int64, v Verdict, left, budget int) Verdict {
	if c.crowded == 0 || budget == Unlimited {
		return v
	}
	left, begin := c.dealAhead(now, left)
	if left <= 0 {
		return Verdict{State: circles.AskAgain}
	}
	if begin < v.At {
		v.At, v.Node = begin, 0
	}
	return v
}

// beside deals a little ahead beside a timer that is due.
func (c *Circles) beside(now int64, budget int) {
	if c.crowded == 0 || budget == Unlimited {
		return
	}
	if c.due++; c.due%besideEvery == 0 {
		c.dealAhead(now, besideBudget)
	}
}
