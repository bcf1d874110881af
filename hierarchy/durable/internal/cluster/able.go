package cluster

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// This file shows how a process leaves a partition to others if it can't write to the log, because it can't reach the
// log or lacks the permission. The process publishes in its record in the table that it can't write to the log, as it
// does for a log that it can't read. Then no plan assigns it the partition. A member that can write to the log requests
// the partition. If no other member can write to it, the partition stays where it is.

const (
	// A member that could not write to a log leaves the partition to others for a rest of leastRest leases. If it still
	// can't write to the log after a rest, the next rest is twice as long, up to mostRest leases. The same holds if it
	// fails to write again before forgetRest times its last rest has passed.
	leastRest  = 2
	mostRest   = 16
	forgetRest = 4
	// leastTakeover is the least time limit of a takeover that another process may be able to do.
	leastTakeover = 2 * time.Second
)

// wants reports whether this process should take the partition. It should if the plan assigns the partition to it. It
// also should if, as far as the members know, none of them can take the partition; then all members try.
func (l *slot) wants(t task) bool {
	return t.plan == l.me() || t.plan == 0 && t.claim.Free && l.unable.Load() != nil
}

// passes reports whether this process, since it can't write to the log, should give the partition to another process.
func (l *slot) passes(t task) bool { return l.unable.Load() != nil && t.plan != 0 && t.plan != l.me() }

// probe finds out whether this process can write to the log.
func (l *slot) probe() error {
	c := l.c()
	err := c.cfg.Common.Patience.Probe(l.s.ctx, c.cfg.Logs[l.at])
	if err == nil {
		l.able()
		return nil
	}
	if l.s.ctx.Err() == nil {
		l.cannot(err)
	}
	return named(l.at, err)
}

// cannot publishes that this process can't write to the log, if another process may be able to write to it.
func (l *slot) cannot(why error) {
	if !l.s.othersLive() {
		return
	}
	lease, now := l.c().cfg.Member.Lease, time.Now()
	if l.unable.Load() != nil && now.Before(l.again) {
		return
	}
	if now.Sub(l.again) > forgetRest*l.rest {
		l.rest = 0
	}
	l.rest = min(max(2*l.rest, leastRest*lease), mostRest*lease)
	l.again = now.Add(l.rest)
	if !l.unable.CompareAndSwap(nil, &now) {
		return
	}
	l.s.member.SetUnable(l.at, true)
	if l.isNews(why) {
		l.c().cfg.Logger.Warn("durable: this process can't write to a log, and leaves its partition to others", "partition", l.at, "err", why)
	}
}

// able publishes that this process can write to the log. It does nothing unless this process has published the opposite
// before.
func (l *slot) able() {
	if l.unable.Swap(nil) != nil {
		l.s.member.SetUnable(l.at, false)
		l.c().cfg.Logger.Info("durable: this process can write to a log again", "partition", l.at)
	}
}

// stayAway leaves the partition to others until the task changes. If this process could not write to the log, it tries
// again when its rest is over.
func (l *slot) stayAway() {
	l.unfollow()
	l.retry.Reset()
	l.failing.Store(nil)
	if l.unable.Load() == nil {
		l.stay(l.changed, nil)
		return
	}
	if l.stay(l.changed, time.After(time.Until(l.again))); !time.Now().Before(l.again) {
		_ = l.probe() // probe publishes the result itself
	}
}

// weigh leaves the partition to another process if the log has not answered for a lease. The member to which the plan
// then assigns the partition requests it, if that member reaches this process. After two leases without an answer of
// the log, this process gives the partition to that member without a request.
func (l *slot) weigh() {
	lease := l.c().cfg.Member.Lease
	since := l.owner.Silent()
	if since.IsZero() {
		l.able()
		return
	}
	l.weighs.Reset(lease / 4)
	if l.s.leaving.Load() != nil || !l.s.member.Owns(l.at) {
		return
	}
	switch doubt, t := l.s.heldFor(since), l.task(); {
	case doubt >= 2*lease && l.passes(t):
		l.pass(t.plan)
	case doubt >= lease && l.unable.Load() == nil:
		l.cannot(l.trouble.Load().err)
	}
}

// pass gives the partition, or only its claim if the partition is not open here, to a member.
func (l *slot) pass(to member.ID) {
	if l.owner == nil {
		l.giveClaim(to)
	} else if l.settle(); !l.owner.Silent().IsZero() {
		ctx, cancel := l.patience()
		defer cancel()
		_ = l.giveTo(ctx, to) // giveTo does not wait, since the log does not answer
	}
	l.again = time.Now().Add(l.rest)
}

// heldFor returns the time that has passed since a moment. If the lease was interrupted since that moment, the time
// counts from when this process had its lease again.
func (s *session) heldFor(since time.Time) time.Duration {
	if held := s.regained.Load(); held != nil && held.After(since) {
		since = *held
	}
	return time.Since(since)
}

// isOurs reports whether an error means that this process can't reach the log. Other errors mean that another process
// holds the partition, or that no process could open it.
func (l *slot) isOurs(err error) bool {
	for _, other := range []error{partition.ErrDamaged, partition.ErrVersion, errKeeps, errSilent, errLease, errSkew, errLeaving, member.ErrNotFree, member.ErrLost} {
		if errors.Is(err, other) {
			return false
		}
	}
	return l.s.member.Holds()
}
