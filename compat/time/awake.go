package time

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// Timers with a channel, Tickers and sleeping goroutines are the runtime's own. Where an idle process would notice them
// up to a millisecond late, as on Linux, an alarm of clock.Precise that does nothing wakes it when they are due.

// instants are the times in the near future at which the process should be awake. They are hints: a time that is missing
// makes a timer as late as package time's, and one too many wakes the process in vain.
//
// The times are kept by the window of about a millisecond that they are in. A window has places for a few, so adding and
// removing a time takes no lock and no memory.
//
// Where more times are in a window, there is a crowd, and the process is not woken for it: it wakes once in a millisecond
// anyway, and more often would cost more than package time does.
type instants struct {
	clock   clock.Clock // immutable
	windows [reach]window
	aim     atomic.Int64 // what the alarm is set to, or never; written with mu held
	crowded atomic.Bool  // whether there is a crowd; written with mu held
	end     atomic.Int64 // end of the last window that had a time

	mu      sync.Mutex
	alarm   clock.Alarm // guarded by mu, as the next one
	tickers []*ticks    // those that are watched
}

const (
	// width is the length of a window.
	width = 1 << 20 * time.Nanosecond
	// reach is the number of windows.
	reach = 1 << 10
	// far is the longest time ahead that is watched. A timer of more than a second is late by less than a thousandth of it.
	// A time that is added never shares its place with the present window.
	far = (reach - 1) * width
	// few is the largest number of times in a window that is no crowd.
	few = 4
	// lasting is the time for which a crowd is assumed to last. Meanwhile times are not even counted.
	lasting = 32 * width

	never = math.MaxInt64
)

// idleIsLate reports whether the runtime's timers are late in an idle process, and clock.Precise is not.
const idleIsLate = runtime.GOOS == "linux"

// theirs is the instants of the process. The first call must not be in a bubble.
var theirs = sync.OnceValue(func() *instants { return newInstants(clock.Precise()) })

// here returns the instants of the process, or nil if times are not watched here.
func here() *instants {
	if !idleIsLate || process.InBubble() {
		return nil
	}
	return theirs()
}

func newInstants(c clock.Clock) *instants {
	x := &instants{clock: c}
	x.aim.Store(never)
	x.alarm = c.NewAlarm(x.ring)
	if a, ok := x.alarm.(clock.Reviewer); ok {
		a.Review(x.review)
	}
	return x
}

// add adds the time that is d from now, for a timer that was set before. It returns the time, which must be removed if the
// timer does not need it any more, or 0 if it is too far ahead or there is a crowd. The time must be passed to aimAt.
func (x *instants) add(d time.Duration) (at time.Duration) {
	if d <= 0 || d > far {
		return 0
	}
	if x.crowded.Load() {
		return 0
	}
	now := x.clock.Elapsed()
	if at = now + d; x.window(at).add(at) {
		x.extend(at)
		return at
	}
	x.beginCrowd(now)
	return 0
}

// beginCrowd sets the alarm to the time at which the crowd is assumed to end.
func (x *instants) beginCrowd(now time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.crowded.Load() {
		x.crowded.Store(true)
		x.setAlarm(now + lasting)
	}
}

// extend sets end for a time that was added. That changes end no more than once in the length of a window.
func (x *instants) extend(at time.Duration) {
	end := int64(at/width+1) * int64(width)
	for old := x.end.Load(); old < end && !x.end.CompareAndSwap(old, end); {
		old = x.end.Load()
	}
}

// remove removes a time that add has returned.
func (x *instants) remove(at time.Duration) {
	if at != 0 {
		x.window(at).remove(at)
	}
}

func (x *instants) window(at time.Duration) *window { return &x.windows[at/width%reach] }

// aimAt sets the alarm to at, unless it is set to an earlier time, or there is a crowd.
func (x *instants) aimAt(at time.Duration) {
	if at == 0 || int64(at) >= x.aim.Load() || x.crowded.Load() {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if int64(at) < x.aim.Load() && !x.crowded.Load() {
		x.setAlarm(at)
	}
}

// setAlarm sets the alarm. mu must be held.
func (x *instants) setAlarm(at time.Duration) {
	x.aim.Store(int64(at))
	x.alarm.Set(at)
}

// ring is called when the process was woken, or a crowd has ended. It sets the alarm to the next time.
func (x *instants) ring() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.crowded.Store(false)
	x.aimAtNext()
}

// review is called some time before the process is woken. What the alarm is set to may have been removed.
func (x *instants) review() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.crowded.Load() {
		x.aimAtNext()
	}
}

// aimAtNext sets the alarm to the next time, or stops it. mu must be held.
func (x *instants) aimAtNext() {
	x.aim.Store(never) // before looking, so that a time that is added meanwhile aims by itself
	now := x.clock.Elapsed()
	if next := x.next(now, x.nextTick(now)); next != never {
		x.setAlarm(next)
	} else {
		x.alarm.Stop()
	}
}

// next returns the earliest time after now and before until that is known, or until.
func (x *instants) next(now, until time.Duration) time.Duration {
	for at := now / width * width; at < min(time.Duration(x.end.Load()), until); at += width {
		if next := x.window(at).next(now); next < until {
			return next
		}
	}
	return until
}
