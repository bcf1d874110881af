package wakeup

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock/internal/alarmheap"
)

// epoch is the zero of the package's times.
var epoch = time.Now()

func sinceEpoch() time.Duration { return time.Since(epoch) }

const (
	// hold is the time for which the timerfd stays open after the time of a near alarm, so that it need not be opened
	// again for the next one, which costs as much as several wake-ups.
	hold = 40 * time.Millisecond
	// retryAfter is the time after which the waker tries again to open a timerfd, when one could not be opened or was lost.
	retryAfter = time.Second
	// margin is the time after a deadline at which the timerfd expires. The runtime must find its timer due.
	margin = 2 * time.Microsecond
)

// Process wakes the whole process.
var Process = newWaker(openTimerfd)

func newWaker(open func() (expiry, error)) *Waker {
	return &Waker{open: open, watched: alarmheap.New((*watch).before, (*watch).position)}
}

// expiry is a timerfd, or what stands for it in tests.
type expiry interface {
	// aim makes it expire at the time at since epoch. It replaces the previous aim.
	aim(at time.Duration) error
	check() error // returns an error if it is lost
	close()
}

// Waker sees to it that the process is awake at certain times, so that the runtime's timers of these times are not late.
type Waker struct {
	open func() (expiry, error) // immutable

	mu      sync.Mutex
	watched alarmheap.Heap[*watch] // guarded by mu, as all below
	timerfd expiry                 // nil if there is none
	aim     time.Duration          // what the timerfd is aimed at
	closing *time.Timer            // closes the timerfd; nil before the first use
	closes  bool                   // whether closing is set
	failed  error                  // reason why there is no timerfd
	retry   time.Duration          // time at which to try again to open a timerfd
}

// watch is a time at which the process must be awake.
type watch struct {
	at    time.Duration // since epoch; guarded by the waker's mu, as the next one
	index int           // 1 + the index in the heap; 0 if it is not in the heap
}

func (x *watch) before(y *watch) bool { return x.at < y.at }
func (x *watch) position() *int       { return &x.index }

// add makes x a near time, or moves it. The runtime's timer of that time must have been set before.
func (w *Waker) add(x *watch, at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.at = at
	w.watched.Put(x)
	w.aimAtFirst()
	w.keep()
}

// forget removes x if it is there.
func (w *Waker) forget(x *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.index == 0 {
		return
	}
	w.watched.Drop(x)
	w.aimAtFirst()
	w.keep()
}

// keep keeps the timerfd open while a time is watched, and for hold after that.
func (w *Waker) keep() {
	switch empty := w.watched.Len() == 0; {
	case w.timerfd == nil || empty == w.closes:
	case !empty:
		w.closes = false
		w.closing.Stop()
	default:
		w.closes = true
		if w.closing == nil {
			w.closing = time.AfterFunc(hold, w.release)
		} else {
			w.closing.Reset(hold)
		}
	}
}

// aimAtFirst aims the timerfd at the first time that is watched. If there is none, the timerfd may wake the process in
// vain once. mu must be held, here and in the methods below except String and release.
func (w *Waker) aimAtFirst() {
	if w.watched.Len() == 0 {
		return
	}
	first := w.watched.First().at
	if w.timerfd == nil && !w.begin(sinceEpoch()) || w.aim == first {
		return
	}
	if err := w.timerfd.aim(later(first, margin)); err != nil {
		w.lose(err)
		return
	}
	w.aim = first
}

// begin opens a timerfd and reports whether there is one. If there is none, it sets the time to try again.
func (w *Waker) begin(now time.Duration) bool {
	if now < w.retry {
		return false
	}
	if w.timerfd, w.failed = w.open(); w.failed != nil {
		w.timerfd, w.retry = nil, now+retryAfter
		return false
	}
	w.aim, w.closes = 0, false
	return true
}

// release closes the timerfd, unless a time is watched again.
func (w *Waker) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timerfd != nil && w.closes {
		w.timerfd.close()
		w.timerfd = nil
	}
}

// lose forgets the timerfd. The alarms ring all the same, but may be late until there is another one.
func (w *Waker) lose(err error) {
	w.timerfd.close()
	w.timerfd, w.failed = nil, err
	w.retry = sinceEpoch() + retryAfter
}

// String names the mechanism that wakes the process. If that is not the timerfd, it also says why.
func (w *Waker) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timerfd != nil {
		if err := w.timerfd.check(); err != nil {
			w.lose(err)
		}
	} else if fd, err := w.open(); err != nil { // failed may be out of date
		w.failed = err
	} else {
		w.failed = nil
		fd.close()
	}
	if w.failed != nil {
		return "runtime timers: " + w.failed.Error()
	}
	return "timerfd"
}
