package cluster

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Open does not need a context that is longer than the lease of a process that was killed: else one that
// is begun again and again would never open.
func TestOpenBesideADeadOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.process(), w.process()
	a.lease, b.lease, b.behind = time.Hour, time.Hour, time.Hour
	w.NoError(a.open(t.Context()))
	a.kill()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // half of it is for b's share
	defer cancel()
	w.NoError(b.open(ctx))
	w.Zero(b.owns())
}

// A session that has lost its lease owns nothing, so nothing of it is awaited. That does not make Open ready.
func TestALostSessionIsNotReady(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s := a.latest()
	w.NoError(s.awaitReady(t.Context()))
	w.eventually("lost", func() bool {
		w.deleteMembers()
		return !s.member.Holds()
	})
	w.ErrorIs(s.awaitReady(t.Context()), errLost)
}

// The error of Open is that of its context, also if the lease was lost before.
func TestOpenWithoutLeaseAndTime(t *testing.T) {
	w := newWorld(t)
	for _, d := range w.disks {
		d.SetSilent(true)
	}
	a := w.process()
	a.lease = time.Minute
	var logged text
	a.logger = slog.New(slog.NewTextHandler(&logged, nil))
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 1)
	go func() { opened <- a.open(ctx) }()
	w.eventually("lost", func() bool {
		w.deleteMembers()
		return logged.count("this process has lost its lease") > 0
	})
	cancel()
	w.ErrorIs(<-opened, context.Canceled)
}

// deleteMembers deletes the records of all members. It may be too late for one.
func (w *world) deleteMembers() {
	other := w.table.Open()
	for _, r := range w.table.All() {
		if strings.HasPrefix(r.Key, "member.") && !r.Deleted {
			_ = other.Delete(w.t.Context(), r.Key, r.Revision)
		}
	}
}
