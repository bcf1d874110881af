package member

import (
	"sync/atomic"
	"time"
)

// longestLease is the longest lease that a member can have.
const longestLease = 24 * time.Hour

// held is for how long a renewal of such a lease holds, from its sending.
func held(lease time.Duration) time.Duration { return lease - lease/4 }

// waited is how long others wait before they delete such a lease, from when they saw the renewal.
func waited(lease time.Duration) time.Duration { return lease + lease/4 }

// renewed is how long after the sending of a renewal the next is sent. With the default lease there are 6s from any
// failure to the end of the lease: servers that lose the leader of a stream elect another in less, mostly.
func renewed(lease time.Duration) time.Duration { return lease / 8 }

// shown is how long after a renewal a watch must show it.
func shown(lease time.Duration) time.Duration { return lease / 3 }

// longestPause is the longest pause before something is tried again that had no answer. It is what is lost when an
// answer has become possible.
func longestPause(lease time.Duration) time.Duration { return lease / 40 }

// unbroken is the longest time between two acknowledged renewals that is not an interruption.
func unbroken(lease time.Duration) time.Duration { return 2 * lease / 3 }

// newTime is for how long a member is new that joins others. It is less than what others wait
// before they take a silent member for dead, so who finds only dead ones is new no longer when it takes over.
func newTime(lease time.Duration) time.Duration { return lease }

// settledAfter is how many renewals show that a member lives for some time. They take three eighths of a lease.
const settledAfter = 3

// lease is this member's own lease. All but until is guarded by Member.mu. Times are of the boot
// clock.
type lease struct {
	// until is when it ends, and 0 while it does not hold.
	until atomic.Int64
	// acked is when a renewal was acknowledged last, and run when the first of those was that have
	// followed each other without an interruption.
	acked, run time.Duration
	gone       bool // for good

	revision uint64 // of the record, or 0 before the first renewal was acknowledged
	counter  uint64
	leaving  bool
	off      bool          // this process's wall clock is
	newUntil time.Duration // until when this member is new
	unable   []int         // sorted. It is replaced, and never changed
}

// extend is for a renewal that was acknowledged now, and of which the first copy was sent at sent.
func (l *lease) extend(revision uint64, length, sent, now time.Duration) {
	if !l.gone {
		l.until.Store(int64(sent + held(length)))
	}
	if !l.goesOn(length, now) {
		l.run = now
	}
	l.acked, l.revision = now, revision
}

// goesOn tells whether renewals get through.
func (l *lease) goesOn(length, now time.Duration) bool {
	return l.revision > 0 && now-l.acked <= unbroken(length)
}

// ripe is when the wait for the other's record is over that was seen at seen, if renewals go on.
func (l *lease) ripe(seen, other time.Duration) time.Duration {
	return max(seen, l.run) + waited(other)
}
