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
var Process = newQueue(openTimerfd, defaultLinger, defaultTrust)

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
	// defaultLinger is for how long the waiter stays when nothing waits: to end and to
	// begin cost several wake-ups.
	defaultLinger = 200 * time.Millisecond
	// defaultTrust is for how long the waiter may leave unnoticed that the timerfd has
	// expired, before it is taken to be lost. To look costs some 0.2 ms each time.
	defaultTrust = time.Second
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
func (q *Queue) NewAlarm(start time.Time, ring func()) *Alarm {
	return &Alarm{queue: q, offset: start.Sub(epoch), call: serial.Call{F: ring}}
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
func (q *Queue) set(a *Alarm, at time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.at, a.stopped = at, false
	now := sinceEpoch()
	if at <= now {
		q.waiting.Drop(a)
		q.ringing++
		go q.ring(a)
		return
	}
	q.waiting.Put(a)
	q.ensureWaiter(a, now)
	q.aimAtFirst(now)
}

func (q *Queue) stop(a *Alarm) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.stopped = true
	if q.waiting.Drop(a); q.idle() {
		q.end()
	}
}

// idle tells whether nobody needs the waiter. mu must be held, as for all below.
func (q *Queue) idle() bool { return q.waiting.Len() == 0 && q.ringing == 0 }

// ensureWaiter sees to it that somebody waits for a.
func (q *Queue) ensureWaiter(a *Alarm, now time.Duration) {
	switch {
	case q.waiter == nil && now >= q.retry:
		q.begin(now)
	case q.waiter != nil && q.waiter.rings != nil && q.waiter.rings != a: // a rings after itself anyway
		q.startWaiter(q.waiter.fd)
	}
}

// begin opens a timerfd, if it can be had.
func (q *Queue) begin(now time.Duration) {
	fd, err := q.open()
	q.failed = err
	if err != nil {
		q.retry = now + retryAfter
		return
	}
	q.aim = unaimed
	q.startWaiter(fd)
}

// startWaiter makes a new waiter.
func (q *Queue) startWaiter(fd *timerfd) {
	q.waiter = &waiter{queue: q, fd: fd}
	go q.waiter.read()
}

// end does without a waiter, and without a backup until that is set again.
func (q *Queue) end() {
	q.backup.stop()
	if q.waiter != nil {
		q.waiter.dismiss()
		q.waiter = nil
	}
}

// takeDue takes what is due out of the heap. All of it gets goroutines, but for
// the last if nothing is left that waits or if the caller can spare the time.
func (q *Queue) takeDue(now time.Duration, spare bool) (own *Alarm) {
	for q.waiting.Len() > 0 && q.waiting.First().at <= now {
		if own != nil {
			go q.ring(own)
		}
		own = q.waiting.First()
		q.waiting.Drop(own)
		q.ringing++
	}
	if own != nil && q.waiting.Len() > 0 && !spare {
		go q.ring(own)
		return nil
	}
	return own
}

// ring rings a, which takeDue has taken, in a goroutine that has nothing else to
// do.
func (q *Queue) ring(a *Alarm) {
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.rung(a)
	}()
	a.call.Run()
}

// rung is called after each ring.
func (q *Queue) rung(a *Alarm) {
	q.ringing--
	if !q.idle() {
		return
	}
	if a.stopped || q.waiter == nil {
		q.end()
	} else if now := sinceEpoch(); q.aim < now+q.linger/2 || q.aim > now+q.linger {
		q.aimAt(now+q.linger, now)
	}
}

// String says what is at work.
func (q *Queue) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiter != nil {
		if err := q.waiter.fd.check(); err != nil {
			q.lose(err, sinceEpoch())
		}
	}
	if q.waiter == nil { // then failed is of no use: things may have changed
		fd, err := q.open()
		if q.failed = err; err == nil {
			fd.close()
		}
	}
	if q.failed != nil {
		return "runtime timers: " + q.failed.Error()
	}
	return "timerfd"
}
