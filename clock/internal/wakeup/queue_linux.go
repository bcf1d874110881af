package wakeup

import (
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock/internal/alarmheap"
	"github.com/epicycle-go/epicycle/clock/internal/serial"
)

// epoch is the zero of the queue's times.
var epoch = time.Now()

func sinceEpoch() time.Duration { return time.Since(epoch) }

const unaimed = time.Duration(math.MaxInt64)

// Process rings the alarms of the whole process.
var Process = newQueue(openTimerfd, lingers, trusts)

func newQueue(open func() (*timerfd, error), linger, trust time.Duration) *Queue {
	return &Queue{
		open: open, linger: linger, trust: trust,
		waiting: alarmheap.New((*Alarm).before, (*Alarm).position),
	}
}

// queue rings alarms, with a timerfd that is aimed at the earliest and a
// goroutine that waits for it, the waiter.
//
// No ring, however long, delays another: it has a goroutine to itself. But while
// no other alarm waits the waiter rings; if one is set meanwhile, it gets another
// waiter.
type Queue struct {
	open   func() (*timerfd, error) // immutable
	linger time.Duration            // immutable; lingers but in tests
	trust  time.Duration            // immutable; trusts but in tests

	mu       sync.Mutex
	waiting  alarmheap.Heap[*Alarm] // guarded by mu, as all below
	ringing  int                    // rings under way
	waiter   *waiter                // nil while there is none
	aim      time.Duration          // what its timerfd is aimed at; unaimed once that has come
	lead     lead
	overload overload
	backup   backup
	failed   error         // why there is no timerfd
	retry    time.Duration // when to try again
}

const (
	// lingers is for how long the waiter stays when nothing waits: to end and to
	// begin cost several wake-ups.
	lingers = 200 * time.Millisecond
	// trusts is for how long the waiter may leave unnoticed that the timerfd has
	// expired, before it is taken to be lost. To look costs some 0.2 ms each time.
	trusts = time.Second
	// retryAfter is when a timerfd is asked for again after there was none to be
	// had, or one was lost.
	retryAfter = time.Second
)

// Alarm rings once, at or after the time that it was last set to. Rings never overlap.
type Alarm struct {
	queue  *Queue
	offset time.Duration // of the zero of its times, after epoch
	call   serial.Call

	at      time.Duration // after epoch; guarded by the queue's mu, as all below
	stopped bool
	index   int // 1 + its index in the heap, or 0
}

// NewAlarm makes an alarm that calls ring. Its times count from start.
func (k *Queue) NewAlarm(start time.Time, ring func()) *Alarm {
	return &Alarm{queue: k, offset: start.Sub(epoch), call: serial.Call{F: ring}}
}

func (a *Alarm) before(b *Alarm) bool { return a.at < b.at }
func (a *Alarm) position() *int       { return &a.index }

// Set aims the alarm. If the time is past, it rings at once, but not inside the call.
func (a *Alarm) Set(elapsed time.Duration) {
	a.queue.set(a, later(a.offset, max(0, elapsed)))
}

// Stop stops the alarm. It does not wait for a ring.
func (a *Alarm) Stop() { a.queue.stop(a) }

// later is t + d, saturating.
func later(t, d time.Duration) time.Duration {
	if t+d < t {
		return math.MaxInt64
	}
	return t + d
}

// set has a rung at that time, at once if it is past.
func (k *Queue) set(a *Alarm, at time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.at, a.stopped = at, false
	now := sinceEpoch()
	if at <= now {
		k.waiting.Drop(a)
		k.ringing++
		go k.ring(a)
		return
	}
	k.waiting.Put(a)
	k.haveWaiter(a, now)
	k.aimAtFirst(now)
}

func (k *Queue) stop(a *Alarm) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.stopped = true
	if k.waiting.Drop(a); k.idle() {
		k.end()
	}
}

// idle tells whether nobody needs the waiter. mu must be held, as for all below.
func (k *Queue) idle() bool { return k.waiting.Len() == 0 && k.ringing == 0 }

// haveWaiter sees to it that somebody waits for a.
func (k *Queue) haveWaiter(a *Alarm, now time.Duration) {
	switch {
	case k.waiter == nil && now >= k.retry:
		k.begin(now)
	case k.waiter != nil && k.waiter.rings != nil && k.waiter.rings != a: // a rings after itself anyway
		k.appoint(k.waiter.fd)
	}
}

// begin opens a timerfd, if it can be had.
func (k *Queue) begin(now time.Duration) {
	fd, err := k.open()
	k.failed = err
	if err != nil {
		k.retry = now + retryAfter
		return
	}
	k.aim = unaimed
	k.appoint(fd)
}

// appoint makes a new waiter.
func (k *Queue) appoint(fd *timerfd) {
	k.waiter = &waiter{queue: k, fd: fd}
	go k.waiter.read()
}

// end does without a waiter, and without a backup until that is set again.
func (k *Queue) end() {
	k.backup.stop()
	if k.waiter != nil {
		k.waiter.dismiss()
		k.waiter = nil
	}
}

// takeDue takes what is due out of the heap. All of it gets goroutines, but for
// the last if nothing is left that waits or if the caller can spare the time.
func (k *Queue) takeDue(now time.Duration, spare bool) (own *Alarm) {
	for k.waiting.Len() > 0 && k.waiting.First().at <= now {
		if own != nil {
			go k.ring(own)
		}
		own = k.waiting.First()
		k.waiting.Drop(own)
		k.ringing++
	}
	if own != nil && k.waiting.Len() > 0 && !spare {
		go k.ring(own)
		return nil
	}
	return own
}

// ring rings a, which takeDue has taken, in a goroutine that has nothing else to
// do.
func (k *Queue) ring(a *Alarm) {
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.rung(a)
	}()
	a.call.Run()
}

// rung is called after each ring.
func (k *Queue) rung(a *Alarm) {
	k.ringing--
	if !k.idle() {
		return
	}
	if a.stopped || k.waiter == nil {
		k.end()
	} else if now := sinceEpoch(); k.aim < now+k.linger/2 || k.aim > now+k.linger {
		k.aimAt(now+k.linger, now)
	}
}

// String says what is at work.
func (k *Queue) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiter != nil {
		if err := k.waiter.fd.check(); err != nil {
			k.lose(err, sinceEpoch())
		}
	}
	if k.waiter == nil { // then failed is of no use: things may have changed
		fd, err := k.open()
		if k.failed = err; err == nil {
			fd.close()
		}
	}
	if k.failed != nil {
		return "runtime timers: " + k.failed.Error()
	}
	return "timerfd"
}
