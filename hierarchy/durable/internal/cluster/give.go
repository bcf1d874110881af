package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file shows how a partition leaves this process.

// The possible answers to a request for a partition.
const (
	yes = "+"
	no  = "-"
)

// requestSubject returns the subject on which a member receives requests for partitions.
func (s *session) requestSubject(id member.ID) string {
	return fmt.Sprintf("epicycle.%s.give.%s", s.c.cfg.Name, id)
}

// requestVersion is the first byte of a request for a partition. After it come the number of the partition and the ID
// of the member that requests it.
const requestVersion = 1

func (l *slot) requestMessage() []byte {
	b := binary.LittleEndian.AppendUint32([]byte{requestVersion}, uint32(l.at))
	return binary.LittleEndian.AppendUint64(b, uint64(l.me()))
}

// maxRequests is the largest number of requests for one partition that wait at once. Further requests are refused, and
// their senders retry.
const maxRequests = 8

// requested is called when another member requests a partition.
func (s *session) requested(m storage.Message) {
	b := m.Data
	if len(b) != 13 || b[0] != requestVersion || int(binary.LittleEndian.Uint32(b[1:])) >= len(s.slots) {
		s.respond(m, false)
		return
	}
	l := s.slots[binary.LittleEndian.Uint32(b[1:])]
	from := member.ID(binary.LittleEndian.Uint64(b[5:]))
	if l.waiting.Add(1) > maxRequests {
		l.waiting.Add(-1)
		s.respond(m, false)
		return
	}
	go func() { // giving waits for handlers
		defer l.waiting.Add(-1)
		s.respond(m, l.request(from))
	}()
}

func (s *session) respond(m storage.Message, given bool) {
	answer := no
	if given {
		answer = yes
	}
	if err := remote.Respond(s.c.cfg.Bus, m.Reply, []byte(answer)); err != nil {
		s.c.cfg.Logger.Debug("durable: an answer was not sent", "to", m.Reply, "err", err)
	}
}

// request passes a request to the slot's goroutine, and reports whether the slot gave the partition away.
func (l *slot) request(from member.ID) bool {
	a := request{from, make(chan bool, 1)}
	select {
	case l.requests <- a:
	case <-l.s.ctx.Done():
		return false
	}
	select {
	case given := <-a.answer:
		return given
	case <-l.s.ctx.Done():
		return false
	}
}

// give gives the partition to a member that has requested it, if mayGive returns true for that member.
func (l *slot) give(to member.ID) bool {
	if !l.mayGive(to) {
		return false
	}
	if l.settle(); !l.mayGive(to) {
		return false
	}
	ctx, cancel := l.handlersTime()
	defer cancel()
	if err := l.giveTo(ctx, to); err != nil {
		l.c().cfg.Logger.Warn("durable: a partition was given away before its handlers had returned", "partition", l.at, "err", err)
	}
	return l.owner == nil
}

// settle waits for the handlers that are running, while further handlers begin. If this process is leaving, settle does
// not wait. Thanks to settle the partition stands still only for a moment if most handlers are fast. settle and
// handlersTime together take less time than the requesting member waits.
func (l *slot) settle() {
	ctx, cancel := context.WithTimeout(l.s.staying, l.c().cfg.Member.Lease/2)
	defer cancel()
	l.owner.Settle(ctx)
}

// mayGive reports whether a member that requests the partition may have it: the member must live, and not be leaving,
// and the plan must not assign the partition to this process.
func (l *slot) mayGive(to member.ID) bool {
	n := l.s.now()
	peer, lives := n.view.Peer(to)
	return n.plan[l.at] != l.me() && lives && !peer.Leaving
}

// giveUnopened gives away the claim of a partition that is not open in this process, if this process has the claim.
func (l *slot) giveUnopened(to member.ID) bool {
	if l.s.now().view.Claims[l.at].Holder != l.me() || !l.mayGive(to) {
		return false
	}
	l.giveClaim(to)
	return true
}

// handlersTime returns a context that limits how long the handlers of a requested partition may still run: for a lease
// or, at Shutdown, until its context is done.
func (l *slot) handlersTime() (context.Context, context.CancelFunc) {
	leaving := l.s.leaving.Load()
	if leaving == nil {
		return l.patience()
	}
	return l.during(*leaving)
}

// during returns a context that ends with ctx, and with the session.
func (l *slot) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// giveToNobody closes the partition and frees its claim. It returns ErrClosed if Close was called before the handlers
// had returned.
func (l *slot) giveToNobody(ctx context.Context) error {
	limited, cancel := l.during(ctx)
	defer cancel()
	err := l.giveTo(limited, 0)
	if err != nil && ctx.Err() == nil && l.s.ctx.Err() != nil {
		return core.ErrClosed
	}
	return err
}

// giveTo ends the partition in this process, and gives its claim away. It waits for handlers until ctx is done. If
// handlers are still running then, it returns the error of ctx.
func (l *slot) giveTo(ctx context.Context, to member.ID) error {
	if l.owner == nil {
		return nil
	}
	epoch := l.owner.Epoch()
	err := l.endOwner(ctx, to)
	l.closed()
	l.giveClaim(to)
	l.c().cfg.Logger.Info("durable: a partition was given away", "partition", l.at, "epoch", epoch, "to", l.s.nameOf(to))
	return err
}

// endOwner ends the partition in this process, for another owner or for nobody. If this process can't write to the log,
// endOwner does not wait.
func (l *slot) endOwner(ctx context.Context, to member.ID) error {
	switch {
	case l.unable.Load() != nil && l.s.leaving.Load() == nil:
		l.owner.Abandon()
		return nil
	case to == 0:
		return l.owner.Release(ctx)
	}
	return l.owner.HandOver(ctx)
}

// giveClaim gives the claim away. While the result is unknown, giveClaim retries. At Shutdown it does not retry, since
// the lease is then about to be resigned or to run out.
func (l *slot) giveClaim(to member.ID) {
	if l.s.silent.Load() {
		return
	}
	for {
		ctx, cancel := l.claimTime()
		err := l.s.member.Give(ctx, l.at, to)
		cancel()
		if err == nil || errors.Is(err, member.ErrNotMine) || errors.Is(err, member.ErrLost) || l.s.ctx.Err() != nil {
			return
		}
		if l.s.leaving.Load() != nil {
			l.s.silent.Store(true)
			return
		}
		if !wait.Sleep(l.s.ctx, firstPause) {
			return
		}
	}
}

// claimTime returns a context for giving a claim away.
func (l *slot) claimTime() (context.Context, context.CancelFunc) {
	if leaving := l.s.leaving.Load(); leaving != nil {
		return l.s.farewell(*leaving)
	}
	return l.patience()
}

// release gives the partition to nobody, for Shutdown. If the partition is still being opened, release gives up after a
// while, as the log may not answer. After the end of ctx, closeTime is left to close the log.
func (l *slot) release(ctx context.Context) error {
	r := releasing{ctx, make(chan error, 1)}
	late := time.Tick(l.s.farewellTime())
	over, end := outlast(ctx)
	defer end()
	for {
		select {
		case l.releases <- r:
			return <-r.done
		case <-late:
			if l.c().owned[l.at].Load() == nil {
				return nil
			}
		case <-over.Done():
			return ctx.Err()
		case <-l.s.ctx.Done():
			return nil
		}
	}
}
