package member

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// watch follows the changes of the table until the lease is lost. A watch can fall silent without an error. So it must
// show this member's own renewals or, for an Observer, renewals of other members. If it does not show them, a new watch
// is begun.
func (m *Member) watch() {
	retry := wait.Backoff{First: m.cfg.Lease / 100, Last: shown(m.cfg.Lease)}
	for m.ctx.Err() == nil {
		if w, err := m.beginWatch(); err == nil {
			if w.follow() {
				retry.Reset()
			}
		} else {
			m.cfg.Logger.Debug("durable: the watch of the table of members", "err", err)
		}
		retry.Wait(m.ctx)
	}
}

// watching is one watch.
type watching struct {
	*Member
	cancel  context.CancelFunc
	changes <-chan storage.Change

	seen    uint64 // the highest revision of this member's own record that the watch has shown
	awaited uint64 // the revision of this member's record that the watch must show before timer ends, or 0
	timer   *time.Timer

	met map[ID]bool // the members whose records the watch of an Observer has shown, until it has shown all
}

// beginWatch begins a watch, unless the table does not respond within a lease.
func (m *Member) beginWatch() (*watching, error) {
	ctx, cancel := context.WithCancel(m.ctx)
	late := time.AfterFunc(m.cfg.Lease, cancel)
	changes, err := m.cfg.Store.Watch(ctx)
	if err != nil || !late.Stop() {
		cancel()
		if err == nil {
			err = context.DeadlineExceeded
		}
		return nil, err
	}
	return newWatching(m, cancel, changes), nil
}

// newWatching returns a watch that has shown nothing yet. The first records must come before its timer ends, too.
func newWatching(m *Member, cancel context.CancelFunc, changes <-chan storage.Change) *watching {
	w := &watching{Member: m, cancel: cancel, changes: changes, timer: time.NewTimer(m.cfg.Lease)}
	if m.observes {
		w.met = make(map[ID]bool)
	}
	return w
}

// follow applies changes until the watch ends or falls silent. worked reports whether there were any changes.
func (w *watching) follow() (worked bool) {
	defer w.cancel()
	defer w.timer.Stop()
	for {
		select {
		case c, ok := <-w.changes:
			if !ok {
				return worked
			}
			worked = true
			w.take(c)
		case <-w.acked:
			w.await()
		case <-w.timer.C:
			w.logSilence()
			return worked
		case <-w.ctx.Done():
			return worked
		}
	}
}

func (w *watching) take(c storage.Change) {
	if c.All {
		w.timer.Stop()
		w.awaited = 0
		w.read()
	} else if w.apply(c.Record) {
		w.quiet = false
	}
	if w.observes {
		w.meet(c)
		w.timer.Reset(w.silence())
		return
	}
	if c.All || c.Key != memberKey(w.id) {
		return
	}
	w.mu.Lock()
	w.timing.shown(c.Revision, c.Time)
	w.mu.Unlock()
	if w.seen = max(w.seen, c.Revision); w.awaited != 0 && w.seen >= w.awaited {
		w.timer.Stop()
		w.awaited = 0
	}
}

// meet notes whose records an Observer is shown. Once all were shown, a member that was not among them, and has been
// silent for so long that the table has forgotten a deletion, is gone. A Member would try to delete such a record.
func (w *watching) meet(c storage.Change) {
	if w.met == nil {
		return
	}
	if !c.All {
		id, _, _ := parseKey(c.Key)
		w.met[id] = true
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.cfg.Boot()
	for id, p := range w.known.peers {
		if !w.met[id] && now-p.seen > forgotten {
			w.known.remove(id, now)
			w.announce()
		}
	}
	w.met = nil
}

// logSilence logs that a watch was silent. An Observer of members that are all dead has one silent watch after another,
// and logs only the first.
func (w *watching) logSilence() {
	if !w.quiet {
		w.cfg.Logger.Warn("durable: the watch of the table of members is silent, and begins anew")
	}
	w.quiet = w.observes
}

// read records that the table was read.
func (w *watching) read() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !isClosed(w.ready) {
		w.known.readAt = w.cfg.Boot()
		close(w.ready)
	}
	w.wake.Set()
}

// await gives the watch a third of the lease to show the renewal that was acknowledged last.
func (w *watching) await() {
	w.mu.Lock()
	revision := w.lease.revision
	w.mu.Unlock()
	if w.awaited == 0 && w.seen < revision {
		w.awaited = revision
		w.timer.Reset(shown(w.cfg.Lease))
	}
}

// bury deletes the records of dead members, until the lease is lost.
func (m *Member) bury() {
	for {
		target, pause := m.next()
		if target.key != "" {
			if m.deleteDead(target) {
				continue
			}
			pause = m.cfg.Lease / 12
		}
		select {
		case <-time.After(pause):
		case <-m.wake:
		case <-m.ctx.Done():
			return
		}
	}
}

// dead identifies the record of a dead member, which may be deleted.
type dead struct {
	name     string
	key      string
	revision uint64 // the last one seen; 0 if no record was ever seen
}

// next returns a record that may be deleted now. If there is none, it returns the time to wait until next is called
// again.
func (m *Member) next() (target dead, pause time.Duration) {
	now := m.cfg.Boot()
	m.mu.Lock()
	defer m.mu.Unlock()
	pause = longestLease
	if !isClosed(m.ready) || !m.lease.goesOn(now) {
		return target, pause // the next renewal wakes bury
	}
	for _, id := range slices.Sorted(maps.Keys(m.known.peers)) {
		p := m.known.peers[id]
		if id == m.id {
			continue
		}
		if left := m.lease.ripe(p.seen, p.lease) - now; left > 0 {
			pause = min(pause, left)
		} else {
			return dead{p.Name(), memberKey(id), p.revision}, 0
		}
	}
	// If a holder whose record was never seen has a record after all, the table refuses this deletion.
	for _, id := range m.known.missing() {
		return dead{Name("", id), memberKey(id), 0}, 0
	}
	return target, pause
}

// deleteDead tries once to delete a record. It reports whether this member has learnt anything new from that.
func (m *Member) deleteDead(d dead) bool {
	r, err := m.try(m.ctx, d.key, nil, d.revision)
	if err != nil {
		return false
	}
	if r.Deleted {
		m.cfg.Logger.Info("durable: a member is gone", "member", d.name)
	}
	m.apply(r)
	return true
}
