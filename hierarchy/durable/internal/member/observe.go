package member

import (
	"context"
	"time"
)

// Observer follows the table. It has no record there, so it is no member and owns nothing. Its methods may be called
// concurrently.
type Observer struct{ m *Member }

// Observe begins to follow the table, and returns when it has read the table. It writes nothing. Of cfg it needs Store
// and Partitions, and Lease if the members don't have the default. ctx is for Observe alone.
func Observe(ctx context.Context, cfg Config) (*Observer, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	m := newMember(cfg)
	m.observes = true
	m.background.Go(m.watch)
	if err := m.awaitTable(ctx); err != nil {
		m.Stop()
		return nil, err
	}
	return &Observer{m}, nil
}

// Changed is Member.Changed.
func (o *Observer) Changed() <-chan struct{} { return o.m.Changed() }

// View returns what is known now. The result must not be changed. Its ID is nobody's.
func (o *Observer) View() *View { return o.m.View() }

// Unowned is Member.Unowned.
func (o *Observer) Unowned(partition int) (since time.Time, ok bool) { return o.m.Unowned(partition) }

// Stop ends the background goroutines, and waits for them.
func (o *Observer) Stop() { o.m.Stop() }

// Unowned reports whether a partition has no owner, as far as this process knows. It has no owner if nobody has the
// claim, or if the holder has not renewed its lease for the time after which others may delete the lease. since is the
// time at which that may have begun. For a claim of this member, ok is false, and since is the time at which it got the
// claim.
func (m *Member) Unowned(partition int) (since time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, c := m.cfg.Boot(), m.known.claims[partition]
	at, ok := c.seen, false
	if c.holder != m.id {
		at, ok = m.known.unowned(c, now)
	}
	return time.Now().Add(at - now), ok
}

// unowned reports whether a claim is nobody's, or belongs to a member that no longer renews its lease, and the time
// since which that is so.
func (k *known) unowned(c claim, now time.Duration) (since time.Duration, ok bool) {
	since = max(c.seen, k.readAt)
	if p := k.peers[c.holder]; p != nil {
		since = max(since, p.seen)
		return since, now-p.seen > waited(p.lease)
	}
	return max(since, k.dead[c.holder]), true
}

// silence returns the time without a change after which an Observer begins a new watch: the shortest time in which the
// watch should show a renewal of some member, or the lease if there are no members.
func (m *Member) silence() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known.peers) == 0 {
		return m.cfg.Lease
	}
	longest := longestLease
	for _, p := range m.known.peers {
		longest = min(longest, shown(p.lease))
	}
	return longest
}
