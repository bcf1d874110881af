package engine

import (
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// aim decides when a wheel wakes up: at the nearest deadline, or, where it gathers timers, at least one precision after
// the time that the last wake-up was aimed at, for all that has become due by then. Config.Precision of package hierarchy
// is the rule. All shards of a wheel share one aim, so that gathered timers cost one wake-up per precision.
//
// The distance is counted from aim to aim, not from when the wheel woke. Otherwise each wake-up would add its latency
// to all that follow.
type aim struct {
	alarm     clock.Alarm
	precision int64                               // immutable; Precision, or 0 if wake-ups are free
	few       int                                 // immutable; the largest number of timers that are not gathered, or 0
	near      func(until int64, most int) (n int) // immutable; see Core.near

	// Setting a timer can change the alarm only if the deadline is earlier than below. below is written with mu held.
	// These invariants hold until the wheel is closed:
	//
	// Invariant: below is 0 while the wheel is awake, since the wheel aims the alarm before it sleeps.
	//
	// Invariant: below is none while the wheel is asleep and the alarm is not aimed.
	//
	// Invariant: while the alarm is aimed, below is the time at which it is aimed, or 0 if the wheel gathers timers.
	// While below is 0, no deadline is earlier.
	below atomicBound

	mu      sync.Mutex
	order   lockOrder
	ring    ring
	aimed   bool  // guarded by mu, like all fields below; whether the alarm is aimed
	at      int64 // the time at which the alarm is aimed
	last    int64 // the time from which the next precision counts: that at which the last wake-up was aimed, or a coarse ring
	urgent  int64 // deadlines up to this time are never gathered; see demand
	fired   int   // number of timers that the last wake-up has fired
	spare   int   // number of wake-ups that may fire nothing before the wheel gathers any timers
	awake   bool
	closed  bool
	wakeups uint64
}

// longAgo is a value of last that delays no wake-up: one Precision after it is at most 0.
const longAgo = -math.MaxInt64

const (
	// maxSpare is the largest value of aim.spare.
	maxSpare = 8
)

// gapEnds returns one precision after the time at which the last wake-up was aimed.
func (a *aim) gapEnds() int64 { return DeadlineAfter(a.last, time.Duration(a.precision)) }

func (a *aim) init(alarm clock.Alarm, precision time.Duration, few int, virtual bool) {
	a.alarm, a.last, a.urgent, a.spare = alarm, longAgo, longAgo, maxSpare
	a.ring.init(alarm, precision, few)
	a.order.is(aimRank, 0)
	a.below.store(none)
	if !virtual {
		a.precision, a.few = int64(precision), few
	}
}

func (a *aim) lock() {
	a.mu.Lock()
	a.order.locked()
}

func (a *aim) unlock() {
	a.order.unlocking()
	a.mu.Unlock()
}

// offer is called, with no lock held, when a timer was set that may be the nearest of its shard.
func (a *aim) offer(deadline int64) {
	if bound(deadline) < a.below.load() {
		a.lock()
		if !a.awake && !a.closed {
			a.set(deadline)
		}
		a.unlock()
	}
}

// set aims the alarm at a deadline, unless it is already aimed at that time or an earlier one. mu must be held.
func (a *aim) set(deadline int64) {
	a.order.assertHeld()
	at, gathers := a.wakeAt(deadline)
	if !a.aimed || at < a.at {
		a.aimed, a.at = true, at
		a.ring.set(time.Duration(at), gathers)
	}
	a.below.store(bound(a.at))
	if gathers {
		a.below.store(0)
	}
}

// wakeAt returns the time at which to wake up for the nearest deadline. If gathers is true, no earlier deadline would
// make that time earlier. If too many wake-ups have fired nothing, it gathers any timers. The
// wheel may also wake up later than the deadline if no timer is due soon, because the nearest one was stopped. mu must
// be held.
func (a *aim) wakeAt(deadline int64) (at int64, gathers bool) {
	end := a.gapEnds()
	switch {
	case a.precision == 0 || deadline <= a.urgent || deadline >= end:
		return deadline, false
	case a.fired > a.few || a.spare == 0:
		return end, true
	}
	switch n := a.near(DeadlineAfter(deadline, time.Duration(a.precision)), a.few); {
	case n > a.few:
		return end, true
	case n == 0:
		return end, false
	}
	return deadline, false
}

// begin begins a wake-up. It reports false if the wheel is closed.
func (a *aim) begin(now int64) bool {
	a.lock()
	defer a.unlock()
	if a.closed {
		return false
	}
	a.last = now
	if a.aimed && !a.ring.rang(now-a.at) {
		a.last = min(now, a.at)
	}
	a.awake, a.aimed = true, false
	a.below.store(0)
	a.wakeups++
	return true
}

// beginNext begins the next wake-up of a wheel that is awake, as begin does, if that wake-up is already due. Aiming the
// alarm at it would cost more. beginNext returns the time until the next wake-up, or 0 if the wake-up has begun. On a
// clock whose time stands still between wake-ups it begins none, because wake-ups cost nothing there.
func (a *aim) beginNext(nearest bound, now int64) (away int64) {
	a.lock()
	defer a.unlock()
	if a.closed || a.precision == 0 || nearest == none {
		return math.MaxInt64
	}
	at := int64(nearest)
	if at <= now+armCost {
		at, _ = a.wakeAt(at)
	}
	if at > now {
		return at - now
	}
	a.last = at
	a.wakeups++
	return 0
}

// note records how many timers a wake-up has fired.
func (a *aim) note(fired int) {
	a.lock()
	defer a.unlock()
	a.fired = fired
	if fired > 0 {
		a.spare = min(a.spare+1, maxSpare)
	} else {
		a.spare = max(0, a.spare-1)
	}
}

// finish ends a wake-up and aims the alarm at the nearest deadline. A wake-up that was cut short has left timers that
// are due, so it does not delay the next wake-up.
func (a *aim) finish(nearest func() bound, cutShort bool) {
	a.lock()
	defer a.unlock()
	a.awake = false
	if cutShort {
		a.last = longAgo
	}
	if !a.closed {
		a.setAnew(nearest)
	}
}

// correct aims the alarm at the nearest deadline, even if that is later than the present aim. While the wheel is awake,
// correct does nothing, since the wheel aims the alarm before it sleeps.
func (a *aim) correct(nearest func() bound) {
	a.lock()
	defer a.unlock()
	if !a.awake && !a.closed {
		a.setAnew(nearest)
	}
}

// setAnew aims the alarm at the nearest deadline. If nothing is pending it stops an aimed
// alarm, since a clock may shut down once its last alarm is stopped. mu must be held.
//
// below is raised before the deadlines of the shards are read. A timer that is set meanwhile is either seen by
// nearest, or its caller finds below raised, and waits in offer for mu.
func (a *aim) setAnew(nearest func() bound) {
	a.order.assertHeld()
	a.below.store(none)
	at := nearest()
	if at == none {
		if a.aimed {
			a.aimed = false
			a.alarm.Stop()
		}
		return
	}
	a.aimed = a.aimed && bound(a.at) == at
	a.set(int64(at))
}

func (a *aim) stop() {
	a.lock()
	defer a.unlock()
	a.closed = true
	a.alarm.Stop()
}

func (a *aim) count() uint64 {
	a.lock()
	defer a.unlock()
	return a.wakeups
}

// demand is offer for a deadline that has already passed when it is set. Such a deadline is never gathered, even if the
// wheel is awake and goes to sleep without having seen it.
//
// The time urgent has passed. So all deadlines up to urgent have passed, too, and are overdue, including those that
// were set before they passed.
func (a *aim) demand(deadline int64) {
	a.lock()
	defer a.unlock()
	a.urgent = max(a.urgent, deadline)
	if !a.awake && !a.closed {
		a.set(deadline)
	}
}

// Precision returns the least distance between two wake-ups of a wheel that gathers timers. It is 0 if wake-ups are free.
func (c *Core[T]) Precision() int64 { return c.aim.precision }
