package member

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
)

// renew keeps the record renewed until the lease is lost.
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

// renewal writes the record once. It returns when it is certain that it was written, or was not and
// never will be: then the lease is lost.
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

	// The lease counts from here, however many copies are sent: the first may be the one that took
	// hold, and the others count from when they see it.
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

// acknowledged is for a renewal that was acknowledged, and of which the first copy was sent at sent.
func (m *Member) acknowledged(r table.Record, record memberRecord, sent time.Duration) {
	m.apply(r)
	now := m.cfg.Boot()
	m.mu.Lock()
	m.lease.extend(r.Revision, m.cfg.Lease, sent, now)
	m.timing.acknowledged(r.Revision, sent, now)
	if record.Leaving && !isClosed(m.left) {
		close(m.left)
	}
	m.mu.Unlock()
	signal(m.acked)
	signal(m.wake)
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

// risen says that Owns may have become true.
func (m *Member) risen() {
	if m.cfg.Rise != nil {
		m.cfg.Rise()
	}
}
