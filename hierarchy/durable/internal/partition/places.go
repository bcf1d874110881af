package partition

import (
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Attempts need places of the Crew. If the log must have the begin of an attempt first, the attempt takes its place before
// the begin is written. So the log has no more begins than handlers can run, and if the process is killed, few timers are
// suspected. But a slow log must not hold up the timers of others, so it lends these places meanwhile. Its attempts take
// places again once their begins are in the log.

// lending is what a firer knows of the attempts whose begins are being written. Partition.mu guards it, except slow.
type lending struct {
	writing int         // how many there are
	lent    int         // how many of them, the first ones, have lent their places
	slow    atomic.Bool // whether the next frame takes longer than gateTime
	timer   *time.Timer // calls lend
}

// needsPlace reports whether attempts need places of the Crew.
func (f *firer) needsPlace() bool { return !f.virtual && f.cfg.Announce == nil }

func (f *firer) takePlace() bool { return !f.needsPlace() || f.cfg.Crew.take(f) }

// freePlace releases a place that was not used. It does so in a goroutine, since mu is held and the Crew may call other
// firers.
func (f *firer) freePlace() {
	if f.needsPlace() {
		go f.cfg.Crew.give()
	}
}

// sending is called when the writer may begin to wait: for what it reads, for room in the log, or for the log's answer. sent
// is called when the fate of its frame is known.
func (f *firer) sending() {
	switch {
	case !f.needsPlace():
	case f.timer == nil:
		f.timer = time.AfterFunc(gateTime, f.lend)
	default:
		f.timer.Reset(gateTime)
	}
}

func (f *firer) sent() {
	if f.timer != nil {
		f.timer.Stop()
		f.slow.Store(false) // if lend sets it just after this, places are lent for nothing until the next frame is sent
	}
}

// lend lends the places of the attempts whose begins are being written.
func (f *firer) lend() {
	f.slow.Store(true)
	f.mu.Lock()
	lent := f.writing - f.lent
	f.lent = f.writing
	f.mu.Unlock()
	for range lent {
		f.cfg.Crew.give()
	}
}

// writes is called when the begin of an attempt, which has a place, is queued for the writer.
func (f *firer) writes() {
	f.mu.assertHeld()
	if f.writing++; f.slow.Load() {
		f.lent++
		f.freePlace()
	}
}

// hasLent reports whether so many attempts have lent their places that no other may begin before their begins are written.
func (f *firer) hasLent() bool { return f.lent > 0 && f.lent >= f.cfg.Crew.size }

// keptPlace is called when the begin of an attempt was written, or never will be. It reports whether the attempt has its
// place still.
func (f *firer) keptPlace() bool {
	f.mu.assertHeld()
	if f.writing--; f.lent == 0 {
		return true
	}
	f.lent--
	return false
}

// postpone puts a job aside whose begin is in the log, until there is a place again.
func (f *firer) postpone(j core.Job, done wait.Signal) {
	f.core.Over(&j)
	f.core.Delay(j)
	f.inactive()
	done.Set()
}
