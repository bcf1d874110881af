package circles

// State is what a Verdict says.
type State uint8

const (
	// Empty says that no timer is in a slot.
	Empty State = iota
	// Due says that the earliest timer is due.
	Due
	// NotBefore says that no timer is due before a time, which is later than now.
	NotBefore
	// AskAgain says that there was too much to do for one call.
	AskAgain
	// slotGathered says that the first slot is a queue now.
	slotGathered
)

// Verdict is what Next found.
type Verdict struct {
	State State
	Node  uint32 // of Due: the earliest timer; of NotBefore: the same, or 0 if it is not known
	At    int64  // of Due: its deadline; of NotBefore: the time
}

// Next finds the earliest timer and says whether it is due. It touches no more than about
// budget nodes, unless order is kept: then it pours, and sorts, whole slots. All
// invariants hold after each call, so the caller may release its lock between calls.
//
// While slots are open, or a crowd is being gathered whose time has come, the earliest timer
// is that of the others, unless order is kept: timers that are due do not wait for a crowd.
func (c *Circles) Next(now int64, budget int) Verdict {
	if len(c.queues) > 0 || c.next != nil {
		return c.nextWithGathered(now, budget)
	}
	v := c.nextInSlots(now, budget, false)
	switch {
	case v.State == Empty && c.inQueues > 0: // it has just gathered the last slot
		v.State = AskAgain
	case v.State == Due && c.gathers && !c.inOrder:
		c.prepareBeside(v.At)
	case v.State == Empty, v.State == NotBefore:
		c.idle, c.buffers = nil, nil // if the last queue has ended while other timers were due
	}
	return v
}

// nextInSlots is Next for the timers that are in slots. It prepares no crowd if a gathered timer
// is due.
func (c *Circles) nextInSlots(now int64, budget int, gatheredDue bool) Verdict {
	c.pourBeforeTimer(budget)
	for c.Linked() && budget > 0 {
		c.swapInAhead(now)
		var v Verdict
		v, budget = c.lookAtFirst(now, budget)
		if v.State == NotBefore && (c.open != 0 || !gatheredDue) {
			v, budget = c.pourMeanwhile(now, v, budget)
		}
		if v.State != AskAgain {
			return v
		}
	}
	if c.Linked() {
		return Verdict{State: AskAgain}
	}
	c.active, c.open, c.hand = 0, 0, max(c.hand, now)
	return Verdict{State: Empty}
}

// lookAtFirst looks at the first slot in time. It answers AskAgain when it has done
// something that makes another look worthwhile. left is what is left of the budget.
func (c *Circles) lookAtFirst(now int64, budget int) (v Verdict, left int) {
	if c.occupied == 0 {
		if start, ok := c.aheadStart(); ok {
			return Verdict{State: NotBefore, At: start}, budget
		}
		return Verdict{State: AskAgain}, budget // none is left: Next answers Empty
	}
	k, s, start := c.first()
	if c.isOpen(k, s) {
		return Verdict{State: AskAgain}, c.pour(budget)
	}
	l := &c.circle[k]
	if l.Loose(s) { // it is being poured ahead
		return Verdict{State: NotBefore, At: start}, budget
	}
	if !l.Sorted(s) {
		n := l.Len(s)
		if v, done := c.putInOrder(k, s, start, now); done {
			return v, budget
		}
		if l.Sorted(s) {
			budget -= n
		}
	}
	i := l.Head(s)
	n := c.arena.At(i)
	switch {
	case n.Key > c.layout.SlotEnd(k, start): // it has moved later
		c.relink(i, n)
		return Verdict{State: AskAgain}, budget - 1
	case n.Key > now:
		return Verdict{State: NotBefore, Node: i, At: n.Key}, budget
	}
	return Verdict{State: Due, Node: i, At: n.Key}, budget
}

// putInOrder makes slot s of circle k, the first one, start with its earliest timer. If done is
// true, that takes more than sorting the slot, and v is what lookAtFirst answers.
func (c *Circles) putInOrder(k, s int, start, now int64) (v Verdict, done bool) {
	l := &c.circle[k]
	n := l.Len(s)
	large, behind := n > c.tuning.SortUpTo, start < c.hand
	switch {
	case large && k > 0 && start > now:
		return Verdict{State: NotBefore, At: start}, true
	case large && c.gathers && c.inOrder && (n <= c.tuning.GatherUpTo || behind || c.layout.SlotEnd(k, start) <= now):
		c.hand = max(c.hand, start)
		c.gatherSlot(k, s, false)
		return Verdict{State: slotGathered}, true
	case large && k > 0 && !behind:
		c.openSlot(k, s, start, now)
		return Verdict{State: AskAgain}, true
	case !large || c.inOrder || behind:
		l.Sort(&c.arena, s)
		c.visited += n
	default: // those that belong in it have one deadline, and may come in any order
	}
	return Verdict{}, false
}

// pourMeanwhile uses the time in which nothing is due: it goes on with the open slots,
// which may hold something earlier than v says, or else with what is poured ahead. It
// answers AskAgain if there is more to do, or to look at.
func (c *Circles) pourMeanwhile(now int64, v Verdict, budget int) (Verdict, int) {
	if c.open != 0 {
		return Verdict{State: AskAgain}, c.pour(budget)
	}
	return c.pourCrowds(now, v, budget)
}
