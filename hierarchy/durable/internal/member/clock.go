package member

import "time"

var started = time.Now()

// monotonic returns the time since this process was started. On some systems this time stands still while the machine
// sleeps.
func monotonic() time.Duration { return time.Since(started) }

// timing estimates the table's clock. The table records when it stored a renewal. That moment lies between the sending
// of the renewal and its acknowledgement. timing is guarded by Member.mu, except for known. Durations are times of the
// boot clock; times of the table count from the Unix epoch.
type timing struct {
	acked       uint64        // the last renewal that was acknowledged
	sent, ended time.Duration // when the first copy of that renewal was sent, and when the renewal was acknowledged

	stored   uint64 // the last renewal that the watch has shown
	storedAt time.Time

	least, most time.Duration // bounds of how far the table's time is ahead of the boot clock
	at          time.Duration // when the bounds were measured
	known       chan struct{} // closed once the bounds have been measured
}

// ageing is the number of seconds after which the bounds of the table's time count as a second wider, because clocks
// drift. So the bounds from a slow renewal do not replace narrower bounds at once.
const ageing = 10

// acknowledged records a renewal that was acknowledged.
func (t *timing) acknowledged(revision uint64, sent, ended time.Duration) {
	t.acked, t.sent, t.ended = revision, sent, ended
	t.measure()
}

// shown records a renewal that the watch has shown, possibly before the acknowledgement.
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

// Timed returns a channel that is closed once Skew has bounds.
func (m *Member) Timed() <-chan struct{} { return m.timing.known }

const readings = 5 // the number of readings of two clocks. The process is hardly descheduled during each of them

// Skew returns lower and upper bounds for the time by which a wall clock is ahead of the table's clock now. The bounds
// are 0 until Timed is closed. Skew sends no request to the table.
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

// SetOff publishes whether this member's wall clock is off. While the clock is off, the member takes nothing over, and
// Plan gives it no partition that it does not hold already.
func (m *Member) SetOff(off bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease.record.Off != off {
		m.lease.record.Off = off
		m.hurry.Set()
	}
}
