package hierarchy

import (
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// aim decides when a wheel wakes up: at the nearest deadline, but each wake-up is aimed
// at least one gap after what the last one was aimed at. There is one aim for all shards
// of a wheel, so that a crowd costs one wake-up per gap.
//
// The gap is counted from the aim, not from when the wheel woke. Otherwise each wake-up
// would add its latency to all that follow.
type aim struct {
	alarm clock.Alarm
	gap   int64 // immutable; Precision, or 0 where wake-ups are free

	// below is what a deadline must be earlier than to concern the alarm.
	// Invariant: it is 0, and no deadline concerns the alarm, while the wheel is awake,
	// which aims before it sleeps, and while the alarm is aimed as early as the gap allows.
	// Invariant: it is none while the alarm is not aimed and the wheel is asleep.
	// Invariant: otherwise it is what the alarm is aimed at.
	below atomicBound

	mu      sync.Mutex
	aimed   bool  // guarded by mu, as all below; the alarm is aimed
	at      int64 // at what
	last    int64 // what the last wake-up was aimed at
	awake   bool
	closed  bool
	wakeups uint64
}

// longAgo is a last wake-up that holds up none.
const longAgo = math.MinInt64 / 2

func (a *aim) init(alarm clock.Alarm, precision time.Duration, virtual bool) {
	a.alarm, a.last = alarm, longAgo
	a.below.store(none)
	if !virtual {
		a.gap = int64(precision)
	}
}

// offer is called, with no lock held, when a timer was set that may be the nearest of its
// shard.
func (a *aim) offer(deadline int64) {
	if bound(deadline) < a.below.load() {
		a.mu.Lock()
		if !a.awake && !a.closed {
			a.set(deadline)
		}
		a.mu.Unlock()
	}
}

// set aims the alarm at a deadline, unless it is aimed at that time or before. mu must be
// held.
func (a *aim) set(deadline int64) {
	earliest := int64(math.MinInt64)
	if a.gap > 0 {
		earliest = a.last + a.gap
	}
	at := max(deadline, earliest)
	if !a.aimed || at < a.at {
		a.aimed, a.at = true, at
		a.alarm.Set(time.Duration(at))
	}
	a.below.store(bound(a.at))
	if a.at == earliest {
		a.below.store(0)
	}
}

// begin begins a wake-up; it is false if the wheel is closed.
func (a *aim) begin(now int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.last = now
	if a.aimed {
		a.last = min(now, a.at)
	}
	a.awake, a.aimed = true, false
	a.below.store(0)
	a.wakeups++
	return true
}

// finish ends a wake-up and aims the alarm at the nearest deadline. A wake-up that was cut
// short has left timers that are due, so it holds up no other.
func (a *aim) finish(nearest func() bound, cutShort bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.awake = false
	if cutShort {
		a.last = longAgo
	}
	if !a.closed {
		a.setAnew(nearest)
	}
}

// correct aims the alarm at the nearest deadline, also later than before, unless the
// wheel is awake: then it will be aimed anyway.
func (a *aim) correct(nearest func() bound) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.awake && !a.closed {
		a.setAnew(nearest)
	}
}

// setAnew aims the alarm, or stops it if nothing is pending and it is aimed: a clock may
// go out of service when its last alarm is stopped. mu must be held.
//
// below is raised before the shards are asked. So whoever sets a timer meanwhile has
// either set it early enough for nearest to see it, or finds below raised, calls offer,
// and waits there for mu.
func (a *aim) setAnew(nearest func() bound) {
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
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.alarm.Stop()
}

func (a *aim) count() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wakeups
}
