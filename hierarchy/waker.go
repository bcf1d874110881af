package hierarchy

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// waker decides when a wheel wakes up: at the nearest deadline, but aims each
// wake-up at least one gap after what the last one was aimed at. It is one for
// all shards of a wheel, so that a crowd costs one wake-up per gap.
//
// The gap is counted from the aim, not from when the wheel woke: otherwise each
// wake-up would add its latency to all that follow.
type waker struct {
	alarm clock.Alarm
	gap   int64 // immutable; Precision, or 0 where wake-ups are free

	// threshold is what a new deadline must be earlier than to concern the
	// alarm. Invariant: it is asleep (below every deadline) while the wheel is
	// awake, which aims the alarm before it sleeps, and while the alarm is
	// aimed as early as it may.
	threshold atomic.Int64

	mu      sync.Mutex
	aimed   bool  // guarded by mu, as all below; the alarm is aimed
	aim     int64 // at what
	last    int64 // what the last wake-up was aimed at
	awake   bool
	closed  bool
	wakeups uint64
}

const (
	asleep  = math.MinInt64
	longAgo = math.MinInt64 / 2
)

func (w *waker) init(a clock.Alarm, precision time.Duration, virtual bool) {
	w.alarm, w.last = a, longAgo
	w.threshold.Store(never)
	if !virtual {
		w.gap = int64(precision)
	}
}

// consider is called when a timer was set that may be the nearest of its shard.
func (w *waker) consider(deadline int64) {
	if deadline < w.threshold.Load() || deadline == never {
		w.mu.Lock()
		if !w.awake && !w.closed {
			w.aimAt(deadline)
		}
		w.mu.Unlock()
	}
}

// aimAt aims the alarm, if it is not aimed at that time or before. mu must be
// held.
func (w *waker) aimAt(deadline int64) {
	earliest := int64(math.MinInt64)
	if w.gap > 0 {
		earliest = w.last + w.gap
	}
	aim := max(deadline, earliest)
	if !w.aimed || aim < w.aim {
		w.aimed, w.aim = true, aim
		w.alarm.Set(time.Duration(aim))
	}
	w.threshold.Store(w.aim)
	if w.aim == earliest {
		w.threshold.Store(asleep)
	}
}

// wake begins a wake-up; it is false if the wheel is closed.
func (w *waker) wake(now int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.last = now
	if w.aimed {
		w.last = min(now, w.aim)
	}
	w.awake, w.aimed = true, false
	w.threshold.Store(asleep)
	w.wakeups++
	return true
}

// sleep ends a wake-up and aims the alarm at what next says comes then. A round
// that was cut short has left timers that are due: it counts for nothing.
func (w *waker) sleep(next func() (int64, bool), cutShort bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.awake = false
	if cutShort {
		w.last = longAgo
	}
	if !w.closed {
		w.aimAnew(next)
	}
}

// correct aims the alarm at what next says, also later than before, unless the
// wheel is awake: then it will be aimed anyway.
func (w *waker) correct(next func() (int64, bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.awake && !w.closed {
		w.aimAnew(next)
	}
}

// aimAnew aims the alarm, or stops it if nothing is pending and it is aimed: a
// clock may go out of service when its last alarm is stopped. mu must be held.
//
// The threshold is raised before the shards are asked, so whoever sets a timer
// meanwhile has either set it early enough for next to see it, or finds the
// threshold raised, comes to consider and waits there for mu.
func (w *waker) aimAnew(next func() (int64, bool)) {
	w.threshold.Store(never)
	nearest, pending := next()
	if !pending {
		if w.aimed {
			w.aimed = false
			w.alarm.Stop()
		}
		return
	}
	w.aimed = w.aimed && w.aim == nearest
	w.aimAt(nearest)
}

func (w *waker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.alarm.Stop()
}

func (w *waker) count() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wakeups
}
