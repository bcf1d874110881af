package member

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// longestLease is the longest lease that a member can have.
const longestLease = 24 * time.Hour

// held returns how long a renewal holds the lease, from its sending.
func held(lease time.Duration) time.Duration { return lease - lease/4 }

// waited returns how long others wait before they delete the lease, from when they saw a renewal.
func waited(lease time.Duration) time.Duration { return lease + lease/4 }

// renewed returns the interval between renewals. With the default lease it leaves 6s from a failure to the end of the
// lease, in which servers that lose the leader of a stream usually elect another.
func renewed(lease time.Duration) time.Duration { return lease / 8 }

// shown returns how long after a renewal the watch must show it.
func shown(lease time.Duration) time.Duration { return lease / 3 }

// longestPause returns the longest pause before a retry.
func longestPause(lease time.Duration) time.Duration { return lease / 40 }

// unbroken returns the longest time between two acknowledged renewals that counts as no interruption.
func unbroken(lease time.Duration) time.Duration { return 2 * lease / 3 }

// newTime returns how long a member that joins others is new. It is less than the wait before a silent member is
// deleted, so a member that finds only dead ones is no longer new when it takes over from them.
func newTime(lease time.Duration) time.Duration { return lease }

// settledAfter is how many renewals make a member settled. They take three eighths of a lease.
const settledAfter = 3

// lease is this member's own lease. All but until is guarded by Member.mu. Times are those of the boot clock.
type lease struct {
	// until is when it ends, or 0 if it is not held.
	until atomic.Int64
	// acked is when the last renewal was acknowledged, and run when the first one was since the last
	// interruption.
	acked, run time.Duration
	gone       bool // for good

	revision uint64 // of the record, or 0 before the first renewal was acknowledged
	counter  uint64
	leaving  bool
	off      bool          // this process's wall clock is wrong
	newUntil time.Duration // until when this member is new
	unable   []int         // sorted. It is replaced, and never changed
}

// extend extends the lease by a renewal that was acknowledged now, whose first copy was sent at sent.
func (l *lease) extend(revision uint64, length, sent, now time.Duration) {
	if !l.gone {
		l.until.Store(int64(sent + held(length)))
	}
	if !l.goesOn(length, now) {
		l.run = now
	}
	l.acked, l.revision = now, revision
}

// goesOn reports whether renewals get through.
func (l *lease) goesOn(length, now time.Duration) bool {
	return l.revision > 0 && now-l.acked <= unbroken(length)
}

// ripe returns when another's record, last seen at seen, may be deleted if this member's own renewals go on.
func (l *lease) ripe(seen, other time.Duration) time.Duration {
	return max(seen, l.run) + waited(other)
}

// renew renews the record until the lease is lost.
func (m *Member) renew() {
	begun := m.cfg.Boot()
	for {
		timer := time.NewTimer(begun + m.cfg.Renew - m.cfg.Boot())
		select {
		case <-timer.C:
		case <-m.hurry:
			timer.Stop()
		case <-m.ctx.Done():
			timer.Stop()
			return
		}
		begun = m.cfg.Boot()
		if m.renewal(m.ctx) != nil {
			return
		}
	}
}

// renewal writes the record once. It returns when it is certain that the record was written, or that it never will be:
// then the lease is lost.
func (m *Member) renewal(ctx context.Context) error {
	now := m.cfg.Boot()
	m.mu.Lock()
	m.lease.counter++
	record := memberRecord{Version: version, Text: m.cfg.Text, Lease: m.cfg.Lease, Counter: m.lease.counter,
		Leaving: m.lease.leaving, New: now < m.lease.newUntil, Off: m.lease.off,
		Unable: m.lease.unable, Log: m.cfg.Log, Wire: m.cfg.Wire, Plan: planRule}
	last := m.lease.revision
	m.mu.Unlock()
	key, value := memberKey(m.id), record.encode()

	// The lease counts from here, however many copies are sent: the first may be the one that was
	// written, and the others count from when they see it.
	sent := m.cfg.Boot()
	r, err := m.change(ctx, key, value, last, m.refused)
	if err != nil {
		return fmt.Errorf("renewing the lease: %w", err)
	}
	if !is(r, value) {
		m.apply(r)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lose()
		return fmt.Errorf("%w: another has deleted the record", ErrLost)
	}
	m.acknowledged(r, record, sent)
	return nil
}

// refused ends the lease until it is certain what the refusal means.
func (m *Member) refused() { m.lease.until.Store(0) }

// acknowledged handles a renewal that was acknowledged, whose first copy was sent at sent.
func (m *Member) acknowledged(r storage.Record, record memberRecord, sent time.Duration) {
	m.apply(r)
	now := m.cfg.Boot()
	m.mu.Lock()
	m.lease.extend(r.Revision, m.cfg.Lease, sent, now)
	m.timing.acknowledged(r.Revision, sent, now)
	if record.Leaving && !isClosed(m.left) {
		close(m.left)
	}
	m.mu.Unlock()
	m.acked.Set()
	m.wake.Set()
	m.risen()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// risen calls Config.Rise.
func (m *Member) risen() {
	if m.cfg.Rise != nil {
		m.cfg.Rise()
	}
}

// Lapsed returns since when this member has not held its lease, or the zero Time if it does.
func (m *Member) Lapsed() time.Time {
	if m.Holds() {
		return time.Time{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	until := time.Duration(m.lease.until.Load())
	if until == 0 { // it was lost, or a renewal was refused
		until = m.lease.acked
	}
	now := m.cfg.Boot()
	return time.Now().Add(min(until, now) - now)
}

// Leave publishes that this member is leaving, so that others take its claims. It keeps its lease. It returns when
// the others can see it.
func (m *Member) Leave(ctx context.Context) error {
	m.mu.Lock()
	m.lease.leaving = true
	m.mu.Unlock()
	m.hurry.Set()
	select {
	case <-m.left:
		return nil
	case <-m.lost:
		return ErrLost
	case <-ctx.Done():
		return fmt.Errorf("saying that this process leaves: %w", ctx.Err())
	}
}

// Resign deletes the record, so that this member's claims are free at once. Like Stop, it makes Owns and Holds false
// and ends what runs in the background. If it fails, the lease runs out.
func (m *Member) Resign(ctx context.Context) error {
	m.Stop()
	m.mu.Lock()
	last := m.lease.revision
	m.mu.Unlock()
	for {
		r, err := m.change(ctx, memberKey(m.id), nil, last, nil)
		if err != nil {
			return fmt.Errorf("deleting the lease: %w", err)
		}
		if r.Deleted {
			return nil
		}
		last = r.Revision // a renewal whose response was lost
	}
}

// SetUnable publishes whether this member is unable to take a partition. Plan gives it no such partition.
func (m *Member) SetUnable(partition int, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, was := slices.BinarySearch(m.lease.unable, partition)
	switch {
	case is == was:
		return
	case is:
		m.lease.unable = slices.Insert(slices.Clone(m.lease.unable), at, partition)
	default:
		m.lease.unable = slices.Delete(slices.Clone(m.lease.unable), at, at+1)
	}
	m.hurry.Set()
}
