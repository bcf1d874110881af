package member

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// longestLease is the longest lease that a member can have.
const longestLease = 24 * time.Hour

// held returns the time for which a renewal holds the lease, counted from when the renewal was sent.
func held(lease time.Duration) time.Duration { return lease - lease/4 }

// waited returns the time for which other members wait before they delete the lease, counted from when they saw a
// renewal.
func waited(lease time.Duration) time.Duration { return lease + lease/4 }

// renewed returns the interval between renewals. With the default lease, at least 6s pass from a failed renewal to the
// end of the lease. Within that time, servers that lose the leader of a stream usually elect another one.
func renewed(lease time.Duration) time.Duration { return lease / 8 }

// shown returns the time within which the watch must show a renewal.
func shown(lease time.Duration) time.Duration { return lease / 3 }

// newTime returns the time for which a member that joins others counts as new. That is less than the wait before a
// silent member is deleted. So a member that finds only dead members is no longer new when it takes over from them.
func newTime(lease time.Duration) time.Duration { return lease }

// settledAfter is the number of renewals after which a member is settled. They take three eighths of a lease.
const settledAfter = 3

// lease is this member's own lease. All fields except until are guarded by Member.mu. Times are those of the boot
// clock.
type lease struct {
	// until is the time when the lease ends, or 0 if the lease is not held.
	until atomic.Int64
	// acked is the time when the last renewal was acknowledged. run is the time when the first renewal since the last
	// interruption was acknowledged.
	acked, run time.Duration

	revision uint64        // the revision of the record, or 0 before the first renewal was acknowledged
	newUntil time.Duration // the time until which this member is new
	record   memberRecord  // the record of the last or next renewal. Unable is replaced as a whole, never in place
}

// goesOn reports whether renewals succeed at the moment.
func (l *lease) goesOn(now time.Duration) bool {
	return l.revision > 0 && now-l.acked <= 2*l.record.Lease/3
}

// ripe returns when another member's record, last seen at seen, may be deleted, provided that this member's own
// renewals succeed until then.
func (l *lease) ripe(seen, other time.Duration) time.Duration {
	return max(seen, l.run) + waited(other)
}

// renew renews the record until the lease is lost.
func (m *Member) renew() {
	begun := m.cfg.Boot()
	for {
		select {
		case <-time.After(begun + m.cfg.Renew - m.cfg.Boot()):
		case <-m.hurry:
		case <-m.ctx.Done():
			return
		}
		begun = m.cfg.Boot()
		if m.renewal(m.ctx) != nil {
			return
		}
	}
}

// renewal writes the record once. It returns when it is certain that the record was written. It also returns when it is
// certain that the record will never be written: then the lease is lost.
func (m *Member) renewal(ctx context.Context) error {
	now := m.cfg.Boot()
	m.mu.Lock()
	m.lease.record.Counter++
	m.lease.record.New = now < m.lease.newUntil
	record, last := m.lease.record, m.lease.revision
	m.mu.Unlock()
	key, value := memberKey(m.id), encode(record)

	// The lease counts from here, however many copies are sent: the first copy may be the one that was written, and
	// other members count from when they see it.
	sent := m.cfg.Boot()
	r, err := m.change(ctx, key, value, last)
	if err != nil {
		return fmt.Errorf("renewing the lease: %w", err)
	}
	m.apply(r)
	if r.Deleted || !bytes.Equal(r.Value, value) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lose()
		return fmt.Errorf("%w: another has deleted the record", ErrLost)
	}
	m.acknowledged(r.Revision, record.Leaving, sent)
	return nil
}

// acknowledged extends the lease by a renewal that was just acknowledged. sent is the time when the first copy of the
// renewal was sent.
func (m *Member) acknowledged(revision uint64, leaving bool, sent time.Duration) {
	now := m.cfg.Boot()
	m.mu.Lock()
	if m.ctx.Err() == nil { // otherwise the lease is lost for good
		m.lease.until.Store(int64(sent + held(m.cfg.Lease)))
	}
	if !m.lease.goesOn(now) {
		m.lease.run = now
	}
	m.lease.acked, m.lease.revision = now, revision
	m.timing.acknowledged(revision, sent, now)
	if leaving && !isClosed(m.left) {
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

// Lapsed returns the time since which this member has not held its lease, or the zero Time if it holds the lease.
func (m *Member) Lapsed() time.Time {
	if m.Holds() {
		return time.Time{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	until := time.Duration(m.lease.until.Load())
	if until == 0 { // the lease was lost, or a renewal was refused
		until = m.lease.acked
	}
	now := m.cfg.Boot()
	return time.Now().Add(min(until, now) - now)
}

// Leave publishes that this member is leaving, so that others take its claims. Leave returns when the other members can
// see that. The member keeps its lease.
func (m *Member) Leave(ctx context.Context) error {
	m.mu.Lock()
	m.lease.record.Leaving = true
	m.mu.Unlock()
	m.hurry.Set()
	select {
	case <-m.left:
		return nil
	case <-m.ctx.Done():
		return ErrLost
	case <-ctx.Done():
		return fmt.Errorf("saying that this process leaves: %w", ctx.Err())
	}
}

// Resign deletes the record, so that this member's claims are free at once. Like Stop, it makes Owns and Holds false
// and ends the background goroutines. If it fails, the lease runs out.
func (m *Member) Resign(ctx context.Context) error {
	m.Stop()
	m.mu.Lock()
	last := m.lease.revision
	m.mu.Unlock()
	for {
		r, err := m.change(ctx, memberKey(m.id), nil, last)
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
	unable := slices.Clone(m.lease.record.Unable)
	at, was := slices.BinarySearch(unable, partition)
	switch {
	case is == was:
		return
	case is:
		unable = slices.Insert(unable, at, partition)
	default:
		unable = slices.Delete(unable, at, at+1)
	}
	m.lease.record.Unable = unable
	m.hurry.Set()
}
