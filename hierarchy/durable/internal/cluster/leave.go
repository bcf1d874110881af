package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file shows how a session ends at Shutdown.

const (
	// mostFarewell limits each request to the table in Shutdown, as the table may not answer at all. After the end of
	// Shutdown's context, or after a request without an answer, closeTime is the limit. closeTime is also the limit for
	// closing a partition that is busy when the context ends.
	mostFarewell = 4 * time.Second
	closeTime    = time.Second
)

// handOver publishes that this process is leaving, and waits until others have taken what they can take. It may be called
// again, with a later ctx.
func (s *session) handOver(ctx context.Context) {
	announced := s.leaving.Swap(&ctx) != nil
	s.depart()
	if !announced && s.announce(ctx) != nil {
		s.silent.Store(true)
	}
	if !s.silent.Load() {
		s.awaitTakers(ctx)
	}
}

// leave gives all partitions away until ctx is done, and ends the lease.
func (s *session) leave(ctx context.Context) error {
	s.handOver(ctx)
	errs := wait.All(len(s.slots), len(s.slots), func(at int) error { return s.slots[at].release(ctx) })
	s.finishCalls(ctx)
	s.resign(ctx)
	s.stop()
	return cmp.Or(errs...)
}

// finishCalls waits until other processes have answered the calls of this process, which has no partition any more.
// Further calls fail with ErrClosed.
func (s *session) finishCalls(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.farewellTime())
	defer cancel()
	if !s.othersLive() {
		cancel() // no process is left to answer
	}
	s.c.client.Finish(ctx)
}

// othersLive reports whether another process lives and is not leaving. This process is not counted, although the view
// may still show it as living if the table did not answer.
func (s *session) othersLive() bool {
	return slices.ContainsFunc(s.now().view.Living(), func(id member.ID) bool { return id != s.member.ID() })
}

// announce publishes that this process is leaving. It takes at most half of the time that ctx has left.
func (s *session) announce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, halfOf(ctx, s.farewellTime()))
	defer cancel()
	return s.member.Leave(ctx)
}

func (s *session) resign(ctx context.Context) {
	ctx, cancel := s.farewell(ctx)
	defer cancel()
	if err := s.member.Resign(ctx); err != nil && !errors.Is(err, member.ErrLost) {
		s.c.cfg.Logger.Warn("durable: the lease was not given back, and runs out", "err", err)
	}
}

// farewell returns a context for the last requests to the table, when ctx may have ended.
func (s *session) farewell(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := s.farewellTime()
	if s.silent.Load() {
		limit = min(limit, closeTime)
	}
	over, end := outlast(ctx)
	limited, cancel := context.WithTimeout(over, limit)
	return limited, func() { cancel(); end() }
}

// outlast returns a context that ends closeTime after ctx.
func outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		defer end()
		wait.Sleep(over, closeTime)
	})
	return over, func() { stop(); end() }
}

// farewellTime returns the limit for a request to the table in Shutdown. It is at most a lease, after which the lease
// has run out anyway.
func (s *session) farewellTime() time.Duration { return min(mostFarewell, s.c.cfg.Member.Lease) }

// halfOf returns half of the time that ctx has left, but at most d.
func halfOf(ctx context.Context, d time.Duration) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(d, time.Until(end)/2)
	}
	return d
}

// awaitTakers waits until other processes have taken all partitions that they can take, for at most a lease or half of
// the time that ctx has left.
func (s *session) awaitTakers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, halfOf(ctx, s.c.cfg.Member.Lease))
	defer cancel()
	for {
		n := s.now()
		if !s.ownsForOthers(&n) {
			return
		}
		select {
		case <-n.changed:
		case <-s.member.Lost():
			return
		case <-ctx.Done():
			return
		}
	}
}

// ownsForOthers reports whether this process owns a partition that the plan assigns to another process.
func (s *session) ownsForOthers(n *news) bool {
	for at := range s.c.allOwned() {
		if n.plan[at] != 0 {
			return true
		}
	}
	return false
}
