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
// The times are counted by the window of about a millisecond that they are in. Of each window only the earliest is known.
// So adding and removing a time takes no lock and no memory.
//
// Where many times are in a window, there is a crowd, and the process is not woken for it: it wakes once in a millisecond
// anyway, and more often would cost more than package time does.
type instants struct {
	clock   clock.Clock // immutable
	windows [reach]window
	aim     atomic.Int64 // what the alarm is set to, or never; written with mu held
	crowded atomic.Bool  // whether there is a crowd; written with mu held

	mu      sync.Mutex
	alarm   clock.Alarm // guarded by mu, as the next one
	tickers []*ticks    // those that are watched
}

const (
	// width is the length of a window.
	width = 1 << 20 * time.Nanosecond
	// reach is the number of windows. Times that are further ahead are not watched: a timer of more than a second is late
	// by less than a thousandth of it.
	reach = 1 << 10
	// few is the number of times in a window from which on there is a crowd.
	few = 4
	// lasting is the time for which a crowd is assumed to last. Meanwhile times are not even counted.
	lasting = 128 * width
	// slack is the time after a timer at which the process is woken, since a timer is set a moment after its time was added.
	slack = 3 * time.Microsecond

	never = math.MaxInt64
)

// idleIsLate reports whether the runtime's timers are late in an idle process, and clock.Precise is not.
const idleIsLate = runtime.GOOS == "linux"

// theirs is the instants of the process. The first call must not be in a bubble.
var theirs = sync.OnceValue(func() *instants { return newInstants(clock.Precise()) })

// watched reports whether times are watched here.
func watched() bool { return idleIsLate && !process.InBubble() }

func newInstants(c clock.Clock) *instants {
	x := &instants{clock: c}
	x.aim.Store(never)
	x.alarm = c.NewAlarm(x.ring)
	return x
}

// add adds the time that is d from now, for a timer that is set at the same time. It returns the time, which must be
// removed if the timer does not need it any more, or 0 if it is too far ahead or there is a crowd. The time must be passed
// to aimAt, if possible when the timer was set.
func (x *instants) add(d time.Duration) (at time.Duration) {
	if d <= 0 || d > (reach-1)*width {
		return 0
	}
	if x.crowded.Load() {
		return 0
	}
	now := x.clock.Elapsed()
	at = now + d + slack
	if x.window(at).add(at) >= few {
		x.beginCrowd(now)
	}
	return at
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

// remove removes a time that plan has returned.
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
	x.aim.Store(never) // before looking, so that a time that is added meanwhile aims by itself
	now := x.clock.Elapsed()
	if next := min(x.next(now), x.nextTick(now)); next != never {
		x.setAlarm(next)
	}
}

// next returns the earliest time after now that is known, or never.
func (x *instants) next(now time.Duration) time.Duration {
	for at := now; at < now+reach*width; at += width {
		if first := x.window(at).first(at); first > now && first != never {
			return first
		}
	}
	return never
}
