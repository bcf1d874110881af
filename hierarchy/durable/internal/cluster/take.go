package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// This file shows how this process gets a partition.

// catchUpEvery is the interval at which this process reads the new end of a log to which another process still writes.
const catchUpEvery = 100 * time.Millisecond

// take reads the log of a partition whose owner lives. Then it requests the partition, if this process can write to the
// log. It returns when the claim may have changed hands, or when the owner has refused.
func (l *slot) take(holder member.ID) error {
	if err := l.fitsClock(); err != nil {
		return err
	}
	if err := l.follow(); err != nil {
		return l.unreadable(err) // even a log that seems to be damaged: its owner has everything in memory
	}
	if err := l.probe(); err != nil {
		return err
	}
	b := l.c().cfg.Bus
	inbox := b.NewInbox()
	answers := make(chan bool, 1)
	sub, err := b.Subscribe(inbox, func(m storage.Message) {
		select {
		case answers <- string(m.Data) == yes:
		default: // the first response counts
		}
	})
	if err != nil {
		return err
	}
	defer sub.Stop()
	if err := b.Publish(l.s.requestSubject(holder), inbox, l.requestMessage()); err != nil {
		return err
	}
	return l.awaitGift(holder, answers)
}

// awaitGift waits until this process has the claim, and keeps following the log. It also returns if the owner dies
// meanwhile: then the claim is free.
func (l *slot) awaitGift(holder member.ID, answers <-chan bool) error {
	late, again := time.After(2*l.c().cfg.Member.Lease), time.Tick(catchUpEvery)
	for t := l.task(); t.plan == l.me() && t.claim.Holder == holder && !t.claim.Free; {
		select {
		case given := <-answers:
			if !given {
				return errKeeps
			}
			// We own the claim: the watch will confirm it.
		case <-again:
			if err := l.follow(); err != nil {
				return err
			}
		case <-l.changed:
			t = l.task()
		case <-late:
			return errSilent
		case a := <-l.requests:
			a.answer <- false
		case r := <-l.releases:
			r.done <- nil
		case <-l.s.ctx.Done():
			return nil
		}
	}
	return nil
}

var (
	errNoOwner = errors.New("no process owns the partition")
	errKeeps   = errors.New("its owner does not give it away")
	errSilent  = errors.New("its owner does not answer")
	errLease   = errors.New("the lease of this process has ended")
)

// follow reads the log to its present end, while another process owns it.
func (l *slot) follow() (err error) {
	if l.follower == nil {
		l.follower, err = partition.Follow(l.s.ctx, l.config())
	} else if err = l.follower.CatchUp(l.s.ctx); err != nil {
		l.unfollow()
	}
	if err == nil {
		l.doubtful = time.Time{}
		l.trouble.Store(nil)
	}
	return err
}

// config returns the configuration of the partition.
func (l *slot) config() partition.Config {
	cfg := l.c().cfg.Common
	m := l.s.member
	cfg.Log, cfg.Partition, cfg.Partitions = l.c().cfg.Logs[l.at], l.at, len(l.c().cfg.Logs)
	cfg.Tenure = func() bool { return m.Owns(l.at) }
	cfg.Doubted, cfg.Progress = l.doubted, &l.progress
	cfg.Fits, cfg.MaxAhead = l.fitsClock, l.c().cfg.MaxSkew
	return cfg
}

// claim takes the claim, if it is free, and opens the partition. Before it takes the claim, it reads the log and probes
// whether this process can write to the log. If reading or probing fails, it leaves the partition to others.
func (l *slot) claim() error {
	if err := l.follow(); err == nil {
		if err = l.probe(); err != nil {
			return err
		}
	} else if !errors.Is(err, partition.ErrDamaged) {
		return l.unreadable(err)
	}
	if !l.wants(l.task()) {
		return nil
	}
	if err := l.fitsClock(); err != nil {
		return err
	}
	ctx, cancel := l.patience()
	defer cancel()
	err := l.s.member.Claim(ctx, l.at)
	if errors.Is(err, member.ErrNotFree) || errors.Is(err, member.ErrLost) {
		return named(l.at, err)
	}
	if err != nil {
		return storage.In(fmt.Sprintf("claiming partition %d", l.at), err)
	}
	return l.open()
}

// open takes over the log of a partition whose claim this process has.
func (l *slot) open() error {
	err := l.own()
	if errors.Is(err, partition.ErrDamaged) {
		return l.damaged(err)
	}
	if err != nil {
		return l.unreadable(err)
	}
	l.logged = ""
	l.unserve()
	if l.server, err = remote.Serve(l.c().remote(), l.at, l.owner); err != nil {
		l.owner.Abandon()
		l.disown()
		return err
	}
	l.looks = time.NewTimer(l.lookEvery())
	l.weighs = time.NewTimer(l.c().cfg.Member.Lease) // a frame may have been in doubt since the log was opened
	l.able()
	l.opened.Set()
	l.c().cfg.Logger.Info("durable: a partition is owned", "partition", l.at, "epoch", l.owner.Epoch(), "ahead", l.owner.Ahead())
	return nil
}

// own takes the log over. If this process does not hold its lease, own leaves the takeover to other processes.
func (l *slot) own() error {
	if err := l.follow(); err != nil {
		return err
	}
	if !l.s.member.Owns(l.at) {
		return errLease
	}
	if err := l.probe(); err != nil {
		return err
	}
	ctx, cancel := l.takeoverTime()
	defer cancel()
	f := l.follower
	l.follower = nil // Own ends it in any case
	owner, err := f.Own(ctx, func(p *partition.Partition) {
		l.c().broken[l.at].Store(nil)
		l.c().owned[l.at].Store(p)
	})
	if errors.Is(err, errSkew) { // the clock was set after the claim was taken or requested
		l.giveClaim(0)
	}
	if err == nil {
		l.owner = owner
	}
	return err
}

// takeoverTime returns a context for the takeover. The context has a time limit if another process may be able to take
// the log over.
func (l *slot) takeoverTime() (context.Context, context.CancelFunc) {
	if !l.s.othersLive() || l.unable.Load() != nil {
		return context.WithCancel(l.s.ctx)
	}
	return context.WithTimeout(l.s.ctx, max(l.c().cfg.Member.Lease, leastTakeover))
}

// damaged handles a log that seems to be damaged. The replica that answered may merely be behind, so the log is read
// again for a while before calls get the error.
func (l *slot) damaged(err error) error {
	l.unfollow()
	if !l.isDamaged(err) {
		return err
	}
	if was := l.c().broken[l.at].Load(); was == nil || (*was).Error() != err.Error() {
		l.c().cfg.Logger.Error("durable: a log is damaged", "partition", l.at, "err", err)
		l.unserve() // the present server answers with an earlier error
	}
	l.c().broken[l.at].Store(&err)
	l.opened.Set()
	if l.server == nil {
		server, failed := remote.Refuse(l.c().remote(), l.at, err)
		if failed != nil {
			return failed
		}
		l.server = server
	}
	return err
}
