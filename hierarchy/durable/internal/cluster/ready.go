package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// How Open waits for the partitions of this process.

// errLost: the lease was lost while the logs were read. The process joins again.
var errLost = errors.New("the lease was lost while the logs were read")

// awaitReady waits until all is open that this process owns, also if it loses its lease meanwhile and joins again.
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

// awaitReady waits until all is open that this process owns. What others have to give first is
// waited for no longer than a lease, or half of what ctx has left: else a process that is begun again and
// again with a context shorter than a lease would wait for a dead one each time. Logs that do not answer are
// waited for no longer than Config.Behind.
func (s *session) awaitReady(ctx context.Context) error {
	late := time.NewTimer(halfOf(ctx, s.c.cfg.Member.Lease))
	defer late.Stop()
	silent := time.NewTimer(s.c.cfg.Behind)
	defer silent.Stop()
	patient := true
	var again <-chan time.Time
	for _, slot := range s.slots {
		for n := s.now(); !slot.ready(n, patient); n = s.now() {
			if again != nil && s.goesOnWithout(slot) {
				break
			}
			select {
			case <-silent.C:
				tick := time.NewTicker(catchUpEvery)
				defer tick.Stop()
				again = tick.C
			case <-again:
			case <-slot.opened:
			case <-n.changed:
			case <-late.C:
				patient = false
			case <-s.member.Lost():
				return errLost
			case <-ctx.Done():
				return slot.late(ctx.Err())
			}
		}
	}
	return s.held()
}

// held is errLost if the lease was lost meanwhile: then nothing of this process is awaited any more.
func (s *session) held() error {
	select {
	case <-s.member.Lost():
		return errLost
	default:
		return nil
	}
}

// goesOnWithout reports whether Open is to return although a log does not answer. Others must: a process
// for which none answers has another problem, which Open's context limits.
func (s *session) goesOnWithout(l *slot) bool {
	why := l.trouble.Load()
	if why == nil || why.read != l.progress.Read.Load() || !s.ownsAny() && !s.othersOwn() {
		return false
	}
	s.c.cfg.Logger.Warn("durable: a log does not answer, and Open does not wait for it any longer", "partition", l.at, "err", why.err)
	return true
}

func (s *session) othersOwn() bool {
	for _, holder := range s.now().view.Holders() {
		if holder != 0 && holder != s.member.ID() {
			return true
		}
	}
	return false
}

// ready reports whether the partition is open, if it should be. A patient one waits for others to give
// it.
func (l *slot) ready(n news, patient bool) bool {
	t := n.of(l.at)
	wanted := l.wants(t) && (t.claim.Free || patient)
	if t.claim.Holder != l.me() && !wanted {
		return true
	}
	return l.c().owned[l.at].Load() != nil || l.c().broken[l.at].Load() != nil
}

// late returns the error of Open if the partition is not ready in time.
func (l *slot) late(err error) error {
	if why := l.trouble.Load(); why != nil {
		return storage.Because(err, why.err)
	}
	return named(l.at, err)
}
