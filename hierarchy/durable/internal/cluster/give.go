package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// How a partition leaves this process.

// The answers to a request for a partition.
const (
	yes = "+"
	no  = "-"
)

// requestSubject returns where a member gets requests for partitions.
func (s *session) requestSubject(id member.ID) string {
	return fmt.Sprintf("epicycle.%s.give.%s", s.c.cfg.Name, id)
}

// requestVersion is the first byte of a request for a partition. Then come the partition and the member that wants it.
const requestVersion = 1

func (l *slot) requestMessage() []byte {
	b := binary.LittleEndian.AppendUint32([]byte{requestVersion}, uint32(l.at))
	return binary.LittleEndian.AppendUint64(b, uint64(l.me()))
}

// maxRequests is how many may wait for one partition. Others are told that they do not get it, and retry.
const maxRequests = 8

// requested is called when another member requests a partition.
func (s *session) requested(m storage.Message) {
	b := m.Data
	if len(b) != 13 || b[0] != requestVersion {
		s.respond(m, false)
		return
	}
	at := binary.LittleEndian.Uint32(b[1:])
	from := member.ID(binary.LittleEndian.Uint64(b[5:]))
	if int(at) >= len(s.slots) {
		s.respond(m, false)
		return
	}
	l := s.slots[at]
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

// request has the slot give its partition to another, and reports whether it did.
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

// give gives the partition to a member that has requested it, if that lives and the plan does not
// leave the partition here.
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

// settle waits for the handlers that run, while others begin, unless this process leaves. The partition has
// to stop for a moment only then, if most handlers are fast. Together with handlersTime this takes less than
// the member waits that has requested it.
func (l *slot) settle() {
	ctx, cancel := context.WithTimeout(l.s.staying, l.c().cfg.Member.Lease/2)
	defer cancel()
	l.owner.Settle(ctx)
}

// mayGive reports whether a member that requests the partition gets it.
func (l *slot) mayGive(to member.ID) bool {
	n := l.s.now()
	peer, lives := n.view.Peer(to)
	return n.plan[l.at] != l.me() && lives && !peer.Leaving
}

// giveUnopened gives the claim of a partition that is not open here, if this process has it.
func (l *slot) giveUnopened(to member.ID) bool {
	if l.s.now().view.Claims[l.at].Holder != l.me() || !l.mayGive(to) {
		return false
	}
	l.giveClaim(to)
	return true
}

// handlersTime returns a context for the handlers of a partition that another has requested: they have a
// lease, or at Shutdown what its context says.
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

// giveToNobody gives the partition to nobody. It is ErrClosed if Close came before its handlers had
// returned.
func (l *slot) giveToNobody(ctx context.Context) error {
	limited, cancel := l.during(ctx)
	defer cancel()
	err := l.giveTo(limited, 0)
	if err != nil && ctx.Err() == nil && l.s.ctx.Err() != nil {
		return partition.ErrClosed
	}
	return err
}

// giveTo ends the partition here, and gives its claim away. Handlers are waited for until ctx is
// done, whose error is returned if there are some still.
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

// endOwner ends the partition here for another owner, or for nobody. What can't be written is not waited for.
func (l *slot) endOwner(ctx context.Context, to member.ID) error {
	switch {
	case l.unable.Load() && l.s.leaving.Load() == nil:
		l.owner.Abandon()
		return nil
	case to == 0:
		return l.owner.Release(ctx)
	}
	return l.owner.HandOver(ctx)
}

// giveClaim gives the claim away. As long as that is in doubt, it is tried again, but not at Shutdown:
// there the lease is given back, or runs out.
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

// claimTime returns a context for a claim that is given away.
func (l *slot) claimTime() (context.Context, context.CancelFunc) {
	if leaving := l.s.leaving.Load(); leaving != nil {
		return l.s.farewell(*leaving)
	}
	return l.patience()
}

// release gives the partition to nobody, for Shutdown. One that is being opened still is left alone
// after a while, as its log may not answer. If ctx has ended, there is time still to close the log.
func (l *slot) release(ctx context.Context) error {
	r := releasing{ctx, make(chan error, 1)}
	late := time.NewTicker(l.s.farewellTime())
	defer late.Stop()
	over, end := outlast(ctx)
	defer end()
	for {
		select {
		case l.releases <- r:
			return <-r.done
		case <-late.C:
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
