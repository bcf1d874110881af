package clock

import (
	"math"
	"sync"
	"time"
)

// epoch is the zero of the keeper's times.
var epoch = time.Now()

func sinceEpoch() time.Duration { return time.Since(epoch) }

const never = time.Duration(math.MaxInt64)

// timekeeper rings the alarms of all clocks that Precise makes.
var timekeeper = keeper{open: openTimerfd, linger: lingers, trust: trusts}

// keeper rings alarms, with a timerfd that is aimed at the earliest and a
// goroutine that waits for it, the reader.
//
// No ring, however long, delays another: it has a goroutine to itself. But while
// no other alarm waits the reader rings; if one is set meanwhile, it gets another
// reader.
type keeper struct {
	open   func() (*timerfd, error) // immutable
	linger time.Duration            // immutable; lingers but in tests
	trust  time.Duration            // immutable; trusts but in tests

	mu      sync.Mutex
	waiting aims[*preciseAlarm] // guarded by mu, as all below
	ringing int                 // rings under way
	reader  *reader             // nil while there is none
	aim     time.Duration       // what its timerfd is aimed at; never once that has come
	lead    lead
	strain  strain
	backup  backup
	failed  error         // why there is no timerfd
	retry   time.Duration // when to try again
}

const (
	// lingers is for how long the reader stays when nothing waits: to end and to
	// begin cost several wake-ups.
	lingers = 200 * time.Millisecond
	// trusts is for how long the reader may leave unnoticed that the timerfd has
	// expired, before it is taken to be lost. To look costs some 0.2 ms each time.
	trusts = time.Second
	// retryAfter is when a timerfd is asked for again after there was none to be
	// had, or one was lost.
	retryAfter = time.Second
)

// set has a rung at that time, at once if it is past.
func (k *keeper) set(a *preciseAlarm, at time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.at, a.stopped = at, false
	now := sinceEpoch()
	if at <= now {
		k.waiting.drop(a)
		k.ringing++
		go k.ring(a)
		return
	}
	k.waiting.put(a)
	k.haveReader(a, now)
	k.aimAtFirst(now)
}

func (k *keeper) stop(a *preciseAlarm) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.stopped = true
	if k.waiting.drop(a); k.idle() {
		k.end()
	}
}

// idle tells whether nobody needs the reader. mu must be held, as for all below.
func (k *keeper) idle() bool { return k.waiting.len() == 0 && k.ringing == 0 }

// haveReader sees to it that somebody waits for a.
func (k *keeper) haveReader(a *preciseAlarm, now time.Duration) {
	switch {
	case k.reader == nil && now >= k.retry:
		k.begin(now)
	case k.reader != nil && k.reader.rings != nil && k.reader.rings != a: // a rings after itself anyway
		k.appoint(k.reader.fd)
	}
}

// begin opens a timerfd, if it can be had.
func (k *keeper) begin(now time.Duration) {
	fd, err := k.open()
	k.failed = err
	if err != nil {
		k.retry = now + retryAfter
		return
	}
	k.aim = never
	k.appoint(fd)
}

// appoint makes a new reader.
func (k *keeper) appoint(fd *timerfd) {
	k.reader = &reader{keeper: k, fd: fd}
	go k.reader.read()
}

// end does without a reader, and without a backup until that is set again.
func (k *keeper) end() {
	k.backup.stop()
	if k.reader != nil {
		k.reader.dismiss()
		k.reader = nil
	}
}

// takeDue takes what is due out of the heap. All of it gets goroutines, but for
// the last if nothing is left that waits or if the caller can spare the time.
func (k *keeper) takeDue(now time.Duration, spare bool) (own *preciseAlarm) {
	for k.waiting.len() > 0 && k.waiting.first().at <= now {
		if own != nil {
			go k.ring(own)
		}
		own = k.waiting.first()
		k.waiting.drop(own)
		k.ringing++
	}
	if own != nil && k.waiting.len() > 0 && !spare {
		go k.ring(own)
		return nil
	}
	return own
}

// ring rings a, which takeDue has taken, in a goroutine that has nothing else to
// do.
func (k *keeper) ring(a *preciseAlarm) {
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.rung(a)
	}()
	a.ringer.fire()
}

// rung is called after each ring.
func (k *keeper) rung(a *preciseAlarm) {
	k.ringing--
	if !k.idle() {
		return
	}
	if a.stopped || k.reader == nil {
		k.end()
	} else if now := sinceEpoch(); k.aim < now+k.linger/2 || k.aim > now+k.linger {
		k.aimAt(now+k.linger, now)
	}
}

// String says what is at work.
func (k *keeper) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reader != nil {
		if err := k.reader.fd.check(); err != nil {
			k.lose(err, sinceEpoch())
		}
	}
	if k.reader == nil { // then failed is of no use: things may have changed
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
