package partition

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// firer begins the attempts of timers that are due, and brings their results to the writer. It aims the alarm at what
// is due next.
type firer struct {
	cfg      *Config
	queue    *queue // of the writer
	silence  *silence
	tenure   *tenure
	virtual  bool // the clock is a mock
	alarm    clock.Alarm
	asAlarm  func(func())    // calls a function as the alarm's: one that a mock must not be moved in
	handlers context.Context // of all attempts
	cancel   context.CancelFunc

	mu *mutex // Partition.mu, as it guards the state. It guards what follows, too
	agenda
	epoch    uint64
	attempts map[state.Ref]*attempt // under way
	outdone  map[string][]*attempt  // by key: those that have changed it themselves, whose handlers run still
	active   int                    // goroutines of attempts, and attempts that are about to begin
	stuck    int                    // handlers of attempts that were given up
	idle     chan struct{}          // if not nil, closed when active is 0
	stopped  bool                   // nothing begins any more
	lost     []Firing               // that have died at the takeover, as their process ended once too often
	claims   map[frame.ID]struct{}  // see claim
	settled  sync.Cond              // signalled when claims is emptied, and when stopped is set

	aimed bool
	at    int64 // in elapsed time, if aimed
	woken int64 // what the last wake-up was aimed at. Invariant: it is not in the future

	fired    uint64
	lateness hierarchy.Histogram
}

// wallCheck is how soon a jump of the wall clock is noticed while timers wait for wall times. A mock clock has
// OnJump instead.
const wallCheck = 10 * time.Second

// open begins to fire.
func (f *firer) open() {
	f.asAlarm = func(g func()) { g() }
	f.alarm = f.cfg.Clock.NewAlarm(f.ring)
	if alarm, ok := f.alarm.(interface{ Run(func()) }); ok {
		f.asAlarm = alarm.Run
	}
	f.onJump(f.fire)
}

// onJump registers g to be called when the wall clock of a mock is set; nil removes it. On other clocks the alarm
// looks at the wall clock every wallCheck.
func (f *firer) onJump(g func()) {
	if alarm, ok := f.alarm.(interface{ OnJump(func()) }); ok {
		alarm.OnJump(g)
	}
}

// close stops the alarm.
func (f *firer) close() {
	f.onJump(nil)
	f.alarm.Stop()
}

// ring is called by the alarm. On a mock clock it returns when all that is due has fired.
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

// mayBegin is mayFire, but on a mock clock it first waits while the outcome of a frame is unknown, until the log
// answers or the calls are given up: otherwise the clock would pass timers that are due, only because an answer is
// slow.
func (f *firer) mayBegin() bool {
	f.mu.assertHeld()
	for f.virtual && !f.stopped && f.silence.any() && !f.queue.inDoubt() {
		done := wait.NewSignal()
		f.mu.Unlock()
		_ = f.queue.put(item{kind: barrier, job: job{done: done}})
		<-done
		f.mu.Lock()
	}
	return f.mayFire()
}

// fire begins the attempts that are due, and aims the alarm at what is due next. On a mock clock it only aims.
func (f *firer) fire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.virtual {
		f.aim()
		return
	}
	f.beginDue()
}

// beginDue begins the attempts that are due, as far as there are places, and sets the alarm for what is due next. A
// mock clock stands still meanwhile and needs no places: each attempt is awaited before the next one begins.
func (f *firer) beginDue() {
	f.expireDead()
	for f.mayBegin() && f.anyDue() {
		if !f.takePlace() {
			return // the Crew calls again
		}
		j := f.next()
		if f.virtual {
			j.done = wait.NewSignal()
		}
		if !f.begin(j) {
			f.freePlace()
		} else if f.virtual {
			f.mu.Unlock()
			f.await(j)
			f.mu.Lock()
		}
	}
	f.aim()
}

// needsPlace reports whether attempts need places of the Crew.
func (f *firer) needsPlace() bool { return !f.virtual && f.cfg.Announce == nil }

func (f *firer) takePlace() bool { return !f.needsPlace() || f.cfg.Crew.take(f) }

// freePlace gives a place back that was taken for nothing. It is called with mu, so others are called later.
func (f *firer) freePlace() {
	if f.needsPlace() {
		go f.cfg.Crew.give()
	}
}

// mayFire reports whether attempts may begin. They may not while the owner does not know what is in the log.
func (f *firer) mayFire() bool {
	return !f.stopped && !f.silence.any() && f.tenure.holds()
}

// wake records in woken the time for which the alarm was set. While this ring was in progress, the alarm may have
// been set again, for much later: so woken is at most the present time.
func (f *firer) wake() {
	f.mu.assertHeld()
	f.aimed, f.woken = false, min(f.at, int64(f.cfg.Clock.Elapsed()))
}

// aim aims the alarm at the next timer. Between two wake-ups is at least Precision.
func (f *firer) aim() {
	f.mu.assertHeld()
	if f.alarm == nil || !f.mayFire() { // once it may, settle or Resume calls fire
		return
	}
	check := wallCheck
	if f.virtual {
		check = math.MaxInt64
	}
	at, ok := f.nearest(check)
	if !ok {
		if f.aimed {
			f.aimed = false
			f.alarm.Stop()
		}
		return
	}
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

// drain prevents further attempts from beginning, and waits for those in progress until ctx is done. Then it cancels
// their contexts.
func (f *firer) drain(ctx context.Context) error {
	defer f.cancel()
	f.mu.Lock()
	f.stopped = true
	f.settled.Broadcast()
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

// underWay returns the attempts that are under way now.
func (f *firer) underWay() []*attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.attempts))
}
