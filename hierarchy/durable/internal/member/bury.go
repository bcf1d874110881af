package member

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
)

// bury deletes the records of members that are gone, until the lease is lost.
func (m *Member) bury() {
	for {
		target, pause := m.next()
		if target.key != "" {
			if m.deleteDead(target) {
				continue
			}
			pause = m.cfg.Lease / 12
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-m.wake:
			timer.Stop()
		case <-m.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// dead is a record to delete.
type dead struct {
	id       ID
	key      string
	revision uint64 // that was waited on; 0 if no record was ever seen
}

// next returns a record that may be deleted, or else how long to wait.
func (m *Member) next() (target dead, pause time.Duration) {
	now := m.cfg.Boot()
	m.mu.Lock()
	defer m.mu.Unlock()
	pause = longestLease
	if !m.known.all || !m.lease.goesOn(m.cfg.Lease, now) {
		return target, pause // the next renewal wakes
	}
	for id, p := range m.known.peers {
		if id == m.id {
			continue
		}
		if left := m.lease.ripe(p.seen, p.lease) - now; left > 0 {
			pause = min(pause, left)
		} else {
			return dead{id, memberKey(id), p.revision}, 0
		}
	}
	// A holder of which nothing was seen may have a record all the same: then this is refused.
	for _, id := range m.known.missing() {
		return dead{id, memberKey(id), 0}, 0
	}
	return target, pause
}

// deleteDead sends one deletion. If it is refused, or in doubt, it reads the record. It tells whether
// that brought something new.
func (m *Member) deleteDead(d dead) bool {
	r, err := m.send(m.ctx, d.key, nil, d.revision)
	if err == nil {
		m.cfg.Logger.Info("durable: a member is gone", "member", d.id)
		m.apply(r)
		return true
	}
	there, missing := m.get(m.ctx, d.key)
	switch {
	case missing != nil && !errors.Is(missing, table.ErrAbsent):
		return false
	case there.Revision > d.revision:
		m.apply(there)
		return true
	case errors.Is(err, table.ErrRefused) && there.Revision == 0 && d.revision > 0:
		if r, err = m.deleteAbsent(m.ctx, d.key, d.revision); err == nil {
			m.apply(r)
		}
		return err == nil
	}
	return false
}
