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

// unaimed is the aim of a timerfd that is not aimed.
const unaimed = time.Duration(math.MaxInt64)

// Process rings the alarms of the whole process.
var Process = newQueue(openTimerfd)

func newQueue(open func() (*timerfd, error)) *Queue {
	return &Queue{
		open: open, spans: defaultSpans, trust: defaultTrust,
		waiting: alarmheap.New((*Alarm).before, (*Alarm).position),
	}
}

// Queue rings alarms. It aims a timerfd at the earliest alarm, and a goroutine, the waiter,
// waits for the timerfd.
//
// A ring that takes long delays no other alarm, because each ring has a goroutine of its own. The waiter rings an alarm
// itself only if no other alarm waits. If another alarm is set during that ring, the queue starts another waiter.
type Queue struct {
	open  func() (*timerfd, error) // immutable
	spans                          // immutable except in tests
	trust time.Duration            // immutable except in tests; see defaultTrust

	mu        sync.Mutex
	waiting   alarmheap.Heap[*Alarm] // guarded by mu, like the fields below
	ringing   int                    // number of rings in progress
	until     time.Duration          // time until which the waiter stays; see spans
	reviewing bool                   // whether a review is in progress
	waiter    *waiter                // nil if there is none
	aim       time.Duration          // aim of the timerfd; unaimed once its expiry is noticed
	lead      lead
	overload  overload
	backup    backup
	failed    error         // reason why there is no timerfd
	retry     time.Duration // time at which to try again to open a timerfd
}

const (
	// defaultTrust is the time after the aim from which on a waiter is considered lost, if it has not noticed the
	// expiry of the timerfd. Each check costs some 0.2 ms.
	defaultTrust = time.Second
	// retryAfter is the time after which the queue tries again to open a timerfd, when one could not be opened or was
	// lost.
	retryAfter = time.Second
)

// Alarm rings once, at or after the time that it was last set to. Rings never overlap.
type Alarm struct {
	queue  *Queue
	offset time.Duration // time from epoch to the start from which the times of Set count
	call   serial.Call
	review func() // immutable once the alarm was set; nil if there is none

	at      time.Duration // time to ring, since epoch; guarded by queue.mu, like the fields below
	stopped bool
	index   int // 1 + the alarm's index in the heap; 0 if it is not in the heap
}

// NewAlarm returns an alarm that calls ring. The times passed to Set count from start.
func (q *Queue) NewAlarm(start time.Time, ring func()) *Alarm {
	return &Alarm{queue: q, offset: start.Sub(epoch), call: serial.Call{F: ring}}
}

// Review registers f to be called some time before a far alarm rings. If f stops the alarm or sets it to a later
// time, nothing is prepared for that ring. f must not wait for anything but locks, and is called in a goroutine of
// the queue. Review must be called before Set.
func (a *Alarm) Review(f func()) { a.review = f }

func (a *Alarm) before(b *Alarm) bool { return a.at < b.at }
func (a *Alarm) position() *int       { return &a.index }

// Set sets the alarm to ring at the time elapsed. If that time has passed, the alarm rings at once, but in another
// goroutine.
func (a *Alarm) Set(elapsed time.Duration) {
	a.queue.set(a, later(a.offset, max(0, elapsed)))
}

// Stop stops the alarm. It does not wait for a ring in progress.
func (a *Alarm) Stop() { a.queue.stop(a) }

// later returns t + d, or the largest duration if that overflows.
func later(t, d time.Duration) time.Duration {
	if t+d < t {
		return math.MaxInt64
	}
	return t + d
}

// set makes the alarm ring at the time at, or at once if that time has passed.
func (q *Queue) set(a *Alarm, at time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.at, a.stopped = at, false
	now := sinceEpoch()
	if at <= now {
		q.drop(a, now)
		q.ringing++
		go q.ringElsewhere(a)
		return
	}
	q.waiting.Put(a)
	if at-now <= q.near {
		q.stay(at)
	}
	q.ensureWaiter(a, now)
	q.settle(now)
}

func (q *Queue) stop(a *Alarm) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.stopped = true
	if q.drop(a, sinceEpoch()); q.idle() {
		q.end()
	}
}

// idle reports whether no alarm waits or rings. q.mu must be held, here and in the methods
// below except ring and String.
func (q *Queue) idle() bool { return q.waiting.Len() == 0 && q.ringing == 0 }

// drop removes a from the alarms that wait. If no other alarm waits, drop makes the backup guard the waiter, since the
// backup may still be set to the time of a.
func (q *Queue) drop(a *Alarm, now time.Duration) {
	if q.waiting.Drop(a); q.waiting.Len() == 0 && q.waiter != nil {
		q.guard(now)
	}
}

// ensureWaiter makes sure that a waiter waits for a, if a is near and there is a timerfd.
func (q *Queue) ensureWaiter(a *Alarm, now time.Duration) {
	switch {
	case q.waiter == nil:
		if !q.far(a.at) && now >= q.retry {
			q.begin(now)
		}
	case q.waiter.rings != nil && q.waiter.rings != a:
		// A waiter that rings a itself needs no help: it waits again after the ring.
		q.startWaiter(q.waiter.fd)
	}
}

// begin opens a timerfd and starts a waiter for it. If no timerfd can be opened, begin sets the time to try again.
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

// startWaiter makes a new goroutine the waiter.
func (q *Queue) startWaiter(fd *timerfd) {
	q.waiter = &waiter{queue: q, fd: fd}
	go q.waiter.read()
}

// end dismisses the waiter and stops the backup.
func (q *Queue) end() {
	q.backup.stop()
	if q.waiter != nil {
		q.waiter.dismiss()
		q.waiter = nil
	}
}

// String names the mechanism that rings the alarms. If that is not the timerfd, it also says why.
func (q *Queue) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiter != nil {
		if err := q.waiter.fd.check(); err != nil {
			q.lose(err, sinceEpoch())
		}
	}
	if q.waiter == nil { // failed may be out of date
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
