package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file shows how Open waits for the partitions of this process.

// errLost means that the lease was lost while the logs were being read. The process joins again.
var errLost = errors.New("the lease was lost while the logs were read")

// awaitReady waits until all partitions of this process are open, even if it loses its lease meanwhile and joins again.
func (c *Cluster) awaitReady(ctx context.Context, s *session) error {
	err := s.awaitReady(ctx)
	for errors.Is(err, errLost) && wait.Sleep(ctx, firstPause) {
		err = c.latest().awaitReady(ctx)
	}
	if errors.Is(err, errLost) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// awaitReady waits until all partitions of this process are open. For partitions that other processes have to give
// first, it waits at most a lease, and at most half of the time that ctx has left. Otherwise a process that is started
// again and again with a context shorter than a lease would wait for a dead process each time. For logs that do not
// answer, awaitReady waits at most Config.Behind.
func (s *session) awaitReady(ctx context.Context) error {
	late, silent := time.After(halfOf(ctx, s.c.cfg.Member.Lease)), time.After(s.c.cfg.Behind)
	patient := true
	var again <-chan time.Time
	for _, slot := range s.slots {
		for n := s.now(); !slot.ready(n, patient); n = s.now() {
			if again != nil && s.goesOnWithout(slot) {
				break
			}
			select {
			case <-silent:
				again = time.Tick(catchUpEvery)
			case <-again:
			case <-slot.opened:
			case <-n.changed:
			case <-late:
				patient = false
			case <-s.member.Lost():
				return errLost
			case <-ctx.Done():
				return slot.late(ctx.Err())
			}
		}
	}
	select {
	case <-s.member.Lost(): // without the lease no slot can become ready
		return errLost
	default:
		return nil
	}
}

// goesOnWithout reports whether Open should return although the log of a slot does not answer. It returns true only if
// other logs answer. A process that reaches no log has another problem, and waits until Open's context ends.
func (s *session) goesOnWithout(l *slot) bool {
	why := l.trouble.Load()
	if why == nil || why.read != l.progress.Read.Load() || !s.anyOwned() {
		return false
	}
	s.c.cfg.Logger.Warn("durable: a log does not answer, and Open does not wait for it any longer", "partition", l.at, "err", why.err)
	return true
}

// anyOwned reports whether any partition has an owner, in this process or in another one.
func (s *session) anyOwned() bool {
	own := 0
	for range s.c.allOwned() {
		own++
	}
	return own > 0 || slices.ContainsFunc(s.now().view.Holders(), func(id member.ID) bool {
		return id != 0 && id != s.member.ID()
	})
}

// ready reports whether the partition is open, or need not be open. If patient is true, it must be open even if another
// member has to give it first.
func (l *slot) ready(n news, patient bool) bool {
	t := n.of(l.at)
	wanted := l.wants(t) && (t.claim.Free || patient)
	if t.claim.Holder != l.me() && !wanted {
		return true
	}
	return l.c().owned[l.at].Load() != nil || l.c().broken[l.at].Load() != nil
}

// late returns the error of Open if the partition was not ready in time.
func (l *slot) late(err error) error {
	if why := l.trouble.Load(); why != nil {
		return storage.Because(err, why.err)
	}
	return named(l.at, err)
}
