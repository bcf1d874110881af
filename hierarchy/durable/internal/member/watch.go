package member

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
)

// watch takes in the changes of the table until the lease is lost. A watch can fall silent without
// an end, so it must show this member's own renewals: if it does not, it is begun anew.
func (m *Member) watch() {
	pause := m.cfg.Lease / 100
	for m.ctx.Err() == nil {
		if w, err := m.beginWatch(); err == nil {
			if w.follow() {
				pause = m.cfg.Lease / 100
			}
		} else {
			m.cfg.Logger.Debug("durable: the watch of the table of members", "err", err)
		}
		select {
		case <-time.After(pause):
		case <-m.ctx.Done():
		}
		pause = min(2*pause, shown(m.cfg.Lease))
	}
}

// watching is one watch.
type watching struct {
	*Member
	cancel  context.CancelFunc
	changes <-chan table.Change

	seen    uint64 // the highest revision of the own record that has come
	awaited uint64 // the own revision that must come before timer ends, or 0
	timer   *time.Timer
}

// beginWatch begins a watch, if the table answers within a lease.
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
	// The timer is for all that is there first.
	return &watching{m, cancel, changes, 0, 0, time.NewTimer(m.cfg.Lease)}, nil
}

// follow takes in changes until the watch ends or is silent. It tells whether anything has come.
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
			w.cfg.Logger.Warn("durable: the watch of the table of members is silent, and begins anew", "member", w.id)
			return worked
		case <-w.ctx.Done():
			return worked
		}
	}
}

func (w *watching) take(c table.Change) {
	if c.All {
		w.timer.Stop()
		w.awaited = 0
		w.read()
		return
	}
	w.apply(c.Record)
	if c.Key != memberKey(w.id) {
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

// read says that all that was there is known.
func (w *watching) read() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known.all {
		w.known.all = true
		close(w.ready)
	}
	signal(w.wake)
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
