package member

import "time"

// How far a clock is ahead of the table's: the table says when it took a renewal, which was between its sending
// and its acknowledgement.

// timing is what is known of the table's time. It is guarded by Member.mu, but for known. Times are of the boot
// clock, and those of the table since the Unix epoch.
type timing struct {
	acked       uint64        // the last renewal that was acknowledged
	sent, ended time.Duration // when its first copy was sent, and when it was acknowledged

	stored   uint64 // the last renewal that the watch has shown
	storedAt time.Time

	least, most time.Duration // by which the table's time is ahead of the boot clock
	at          time.Duration // when that was found out
	known       chan struct{} // closed when it is
}

// ageing is how the bounds of the table's time widen: by a second in so many. So those of a renewal that took
// long do not replace better ones at once.
const ageing = 10

// acknowledged is for a renewal that was acknowledged.
func (t *timing) acknowledged(revision uint64, sent, ended time.Duration) {
	t.acked, t.sent, t.ended = revision, sent, ended
	t.measure()
}

// shown is for a renewal that the watch has shown. It may come before the acknowledgement.
func (t *timing) shown(revision uint64, at time.Time) {
	t.stored, t.storedAt = revision, at
	t.measure()
}

func (t *timing) measure() {
	if t.acked != t.stored || t.acked == 0 || t.storedAt.IsZero() {
		return
	}
	if isClosed(t.known) && t.ended-t.sent > t.most-t.least+(t.ended-t.at)/ageing {
		return
	}
	stored := time.Duration(t.storedAt.UnixNano())
	t.least, t.most, t.at = stored-t.ended, stored-t.sent, t.ended
	if !isClosed(t.known) {
		close(t.known)
	}
}

// Timed returns a channel that is closed when Skew knows something.
func (m *Member) Timed() <-chan struct{} { return m.timing.known }

const readings = 5 // of two clocks. A process seldom stands still in each

// Skew returns bounds of how far a wall clock is ahead of the table's clock now. They are 0 before Timed. It may
// be asked while the table does not answer.
func (m *Member) Skew(wall func() time.Time) (least, most time.Duration) {
	m.mu.Lock()
	t := m.timing
	m.mu.Unlock()
	if !isClosed(t.known) {
		return 0, 0
	}
	for i := range readings {
		before := m.cfg.Boot()
		now := time.Duration(wall().UnixNano())
		after := m.cfg.Boot()
		if l, u := now-after-t.most, now-before-t.least; i == 0 || u-l < most-least {
			least, most = l, u
		}
	}
	return least, most
}

// SetOff says whether this member's wall clock is off: then it takes nothing over, and the others should leave
// nothing to it that it does not hold.
func (m *Member) SetOff(off bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease.off != off {
		m.lease.off = off
		signal(m.hurry)
	}
}
