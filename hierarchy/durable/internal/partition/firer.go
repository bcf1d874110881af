package partition

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// firer begins the attempts of timers that are due, and gives their results to the writer. It sets the alarm for
// whatever is due next.
type firer struct {
	*shared
	queue    *queue // of the writer
	silence  *silence
	tenure   *tenure
	virtual  bool // whether the clock is a mock
	alarm    clock.Alarm
	asAlarm  func(func())    // calls a function in which a mock clock must not be moved, as in a function of the alarm
	handlers context.Context // the parent of the contexts of all attempts
	cancel   context.CancelFunc

	// Partition.mu guards the fields below.
	active  int           // the number of goroutines of attempts, and of attempts that are about to begin
	stuck   int           // the number of handlers that still run although their attempts were given up
	idle    chan struct{} // if not nil, closed when active is 0
	stopped bool          // no further attempt begins
	lost    []core.Death  // at the takeover, since a process ended during the last attempt
	settled sync.Cond     // signalled when claims end, and when stopped is set
	lending

	aimed bool
	at    int64 // the elapsed time at which the alarm rings, if aimed
	woken int64 // the time for which the last wake-up was set. Invariant: woken is not in the future

	fired    uint64
	lateness hierarchy.Histogram
}

// wallCheck is the interval at which the wall clock is read while timers wait for wall times, so that a jump of it is
// noticed. A mock clock has OnJump instead.
const wallCheck = 10 * time.Second

// open begins firing.
func (f *firer) open() {
	f.asAlarm = func(g func()) { g() }
	f.alarm = f.cfg.Clock.NewAlarm(f.ring)
	if alarm, ok := f.alarm.(clock.MockAlarm); ok {
		f.asAlarm = alarm.Run
	}
	f.onJump(f.fire)
}

// onJump registers g to be called when the wall clock of a mock is set; nil removes it. On other clocks the alarm
// looks at the wall clock every wallCheck.
func (f *firer) onJump(g func()) {
	if alarm, ok := f.alarm.(clock.MockAlarm); ok {
		alarm.OnJump(g)
	}
}

// close stops the alarm.
func (f *firer) close() {
	f.onJump(nil)
	f.alarm.Stop()
}

// ring is called by the alarm. On a mock clock it returns once everything that is due has fired.
func (f *firer) ring() {
	f.mu.Lock()
	f.wake()
	f.mu.Unlock()
	if by := f.cfg.Crew.jumped(f.time.skew()); by != 0 {
		f.cfg.Logger.Warn("durable: the wall clock was set", "by", time.Duration(by))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.beginDue()
}

// mayBegin returns mayFire. On a mock clock it first waits until the outcome of the frame in flight is known, or until
// the calls are given up. Otherwise the clock would pass timers that are due, just because an answer is slow.
func (f *firer) mayBegin() bool {
	f.mu.assertHeld()
	for f.virtual && !f.stopped && f.silence.any() && !f.queue.inDoubt() {
		done := wait.NewSignal()
		f.mu.Unlock()
		_ = f.queue.put(item{kind: barrier, done: done})
		<-done
		f.mu.Lock()
	}
	return f.mayFire()
}

// fire begins the attempts that are due, and sets the alarm for what is due next. On a mock clock it only sets the
// alarm.
func (f *firer) fire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.virtual {
		f.aim()
		return
	}
	f.beginDue()
}

// beginDue begins the attempts that are due, as long as the Crew has places, and sets the alarm for what is due next. A
// mock clock stands still meanwhile and needs no places: each attempt is awaited before the next one begins.
func (f *firer) beginDue() {
	f.expireDead()
	for f.mayBegin() && f.core.AnyDue(f.time.both()) {
		if f.hasLent() || !f.takePlace() {
			return // the writer, or the Crew, will make this firer fire
		}
		j := f.core.Next(f.time.both())
		done := f.signal()
		if !f.begin(j, done) {
			f.freePlace()
		} else if f.virtual {
			f.mu.Unlock()
			f.await(done)
			f.mu.Lock()
		}
	}
	f.aim()
}

// signal returns an item.done that a mock clock waits for. Other clocks wait for nothing.
func (f *firer) signal() wait.Signal {
	if f.virtual {
		return wait.NewSignal()
	}
	return nil
}

// mayFire reports whether attempts may begin. No attempt may begin after halt, without the lease, or while it is
// unknown whether the last frame is in the log.
func (f *firer) mayFire() bool {
	return !f.stopped && !f.silence.any() && f.tenure.holds()
}

// wake records in woken the time for which the alarm was set. The alarm may have been set again while this ring was in
// progress, for much later, so woken is limited to the present time.
func (f *firer) wake() {
	f.mu.assertHeld()
	f.aimed, f.woken = false, min(f.at, int64(f.cfg.Clock.Elapsed()))
}

// aim sets the alarm for the next timer that is due. Wake-ups are at least Precision apart.
func (f *firer) aim() {
	f.mu.assertHeld()
	if f.alarm == nil || !f.mayFire() { // once attempts may begin, settle or Resume calls fire
		return
	}
	check := wallCheck
	if f.virtual {
		check = math.MaxInt64
	}
	now, wall := f.time.both()
	at, ok := f.core.Nearest(now, wall, check)
	if !ok {
		if f.aimed {
			f.aimed = false
			f.alarm.Stop()
		}
		return
	}
	at = max(0, state.Sub(at, f.time.shift))
	if !f.virtual && f.woken != 0 {
		at = max(at, state.Add(f.woken, int64(f.cfg.Precision)))
	}
	if !f.aimed || at != f.at {
		f.aimed, f.at = true, at
		f.alarm.Set(time.Duration(at))
	}
}

// halt prevents further attempts from beginning.
func (f *firer) halt() {
	f.mu.Lock()
	f.stopped = true
	f.settled.Broadcast()
	f.mu.Unlock()
}

// drain prevents further attempts from beginning, leaves those that have tokens to the next owner, and waits for the
// others until ctx is done. Then it cancels their contexts.
func (f *firer) drain(ctx context.Context) error {
	defer f.cancel()
	f.mu.Lock()
	f.stopped = true
	f.settled.Broadcast()
	for _, a := range f.core.WithToken(true) {
		f.leaveToNext(a)
	}
	f.mu.Unlock()
	return f.awaitIdle(ctx)
}

// awaitIdle waits until active is 0, or until ctx is done.
func (f *firer) awaitIdle(ctx context.Context) error {
	f.mu.Lock()
	idle := make(chan struct{})
	switch {
	case f.active == 0:
		close(idle)
	case f.idle != nil:
		idle = f.idle
	default:
		f.idle = idle
	}
	f.mu.Unlock()
	select {
	case <-idle:
		return nil
	default:
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// underWay returns the attempts that are in progress, without those that can be left to the next owner.
func (f *firer) underWay() []*core.Attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.core.WithToken(false)
}
