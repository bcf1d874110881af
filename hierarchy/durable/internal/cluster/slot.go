package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// slot is one partition in one session. Its goroutine does what the plan requires for the partition.
type slot struct {
	s        *session
	at       int
	opened   wait.Signal  // set when the partition was opened, or was found to be broken
	changed  wait.Signal  // set when the task may have changed
	doubts   wait.Signal  // set when the result of an append of owner is unknown
	requests chan request // requests of other members
	waiting  atomic.Int32 // the number of requests without an answer
	releases chan releasing
	trouble  atomic.Pointer[trouble]
	failing  atomic.Pointer[time.Time] // the time since which all attempts to get the partition have failed, or nil
	unable   atomic.Pointer[time.Time] // when this process has published that it can't write to the log, or nil
	progress partition.Progress        // the progress of reading the log

	// The other fields belong to the goroutine of run.

	owner    *partition.Partition // nil if the partition is not open here
	server   *remote.Server       // answers calls of other processes: by owner or, for a damaged log, with the damage
	follower *partition.Follower  // the follower of the log while another process owns it, or nil
	retry    wait.Backoff
	doubtful time.Time     // the time since which the log has seemed to be damaged
	logged   string        // the last trouble that was logged
	looks    *time.Timer   // when lookAgain is due next
	seen     uint64        // the last frame that owner had written when its log was last found complete
	weighs   *time.Timer   // when weigh is due next
	rest     time.Duration // the time for which a process that can't write to the log leaves the partition
	again    time.Time     // when the present rest ends
}

// request is another member's request for the partition.
type request struct {
	from   member.ID
	answer chan bool
}

// releasing is a request of Shutdown to give the partition to nobody.
type releasing struct {
	ctx  context.Context
	done chan error
}

func newSlot(s *session, at int) *slot {
	return &slot{s: s, at: at, opened: wait.NewSignal(), changed: wait.NewSignal(), requests: make(chan request),
		releases: make(chan releasing), doubts: wait.NewSignal(), retry: newBackoff()}
}

func (l *slot) c() *Cluster   { return l.s.c }
func (l *slot) me() member.ID { return l.s.member.ID() }

// task returns the present task. When the task changes, the signal changed is set.
func (l *slot) task() task {
	n := l.s.now()
	return n.of(l.at)
}

// run does what the plan requires, until the session ends.
func (l *slot) run() {
	defer l.end()
	for l.s.ctx.Err() == nil {
		t := l.task()
		if l.owner == nil && t.claim.Holder != l.me() {
			l.unrefuse()
		}
		switch {
		case l.owner != nil && t.claim.Holder != l.me():
			l.end() // the lease was lost, and the other members have noticed that
		case l.owner != nil:
			l.keep()
		case l.s.leaving.Load() != nil || l.c().isEnding(): // other members will open the partition
			l.unfollow()
			l.stay(l.changed, nil)
		case t.claim.Holder == l.me() && l.passes(t):
			l.pass(t.plan)
		case t.claim.Holder == l.me():
			l.try(l.open)
		case !l.wants(t):
			l.stayAway()
		case t.claim.Free:
			l.try(l.claim)
		default:
			l.try(func() error { return l.take(t.claim.Holder) })
		}
	}
}

// try calls do, and waits for a while if that fails.
func (l *slot) try(do func() error) {
	begun := time.Now()
	err := do()
	if err == nil {
		l.retry.Reset()
		l.failing.Store(nil)
		return
	}
	if l.s.ctx.Err() != nil {
		return
	}
	l.setTrouble(err)
	l.failing.CompareAndSwap(nil, &begun)
	if l.isOurs(err) && l.s.heldFor(*l.failing.Load()) >= l.c().cfg.Member.Lease {
		l.cannot(err)
	}
	pause := l.retry.Next()
	l.logTrouble(err)
	if l.isDamaged(err) {
		pause = l.c().cfg.Reread
	}
	l.stay(nil, time.After(pause))
}

// stay waits for changed or wake. Meanwhile it answers requests, since another member may be able to open a partition
// that this process can't open.
func (l *slot) stay(changed <-chan struct{}, wake <-chan time.Time) {
	for {
		select {
		case <-changed:
			return
		case <-wake:
			return
		case a := <-l.requests:
			given := l.giveUnopened(a.from)
			if a.answer <- given; given {
				return
			}
		case r := <-l.releases:
			r.done <- nil
		case <-l.s.ctx.Done():
			return
		}
	}
}

// keep serves the partition until there is something to do.
func (l *slot) keep() {
	select {
	case <-l.changed:
	case <-l.owner.Stopped():
		if !l.c().isEnding() {
			l.c().cfg.Logger.Warn("durable: another process writes to the log of a partition", "partition", l.at)
		}
		l.end()
	case <-l.looks.C:
		l.lookAgain()
	case <-l.doubts:
		l.look()
		l.weigh()
	case <-l.weighs.C:
		l.weigh()
	case a := <-l.requests:
		a.answer <- l.give(a.from)
	case r := <-l.releases:
		r.done <- l.giveToNobody(r.ctx)
	case <-l.s.ctx.Done():
	}
}

// patience returns a context that ends after a lease, or with the session.
func (l *slot) patience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(l.s.ctx, l.c().cfg.Member.Lease)
}

// end ends the partition in this process. It is called when another process has taken the partition over, or when the
// lease is lost.
func (l *slot) end() {
	l.unfollow()
	if l.owner != nil {
		l.owner.Abandon()
		l.closed()
	}
	l.unrefuse()
}

// unrefuse stops answering calls with the damage of the log, since another process may be able to read the log.
func (l *slot) unrefuse() {
	l.unserve()
	l.c().broken[l.at].Store(nil)
}

// closed is called after the partition has ended in this process.
func (l *slot) closed() {
	l.disown()
	l.unserve()
	l.looks.Stop()
	l.weighs.Stop()
}

// disown removes the partition from those that this process owns, and keeps its figures.
func (l *slot) disown() {
	c, st := l.c(), l.owner.Stats()
	c.mu.Lock()
	c.closed(l.at, &st)
	c.mu.Unlock()
	l.owner = nil
}

func (l *slot) unserve() {
	if l.server != nil {
		l.server.Stop()
		l.server = nil
	}
}

func (l *slot) unfollow() {
	if l.follower != nil {
		l.follower.Drop()
		l.follower = nil
	}
}
