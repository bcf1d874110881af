package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// session is one membership of this process, from joining to the end of its lease.
type session struct {
	c        *Cluster
	member   *member.Member
	slots    []*slot
	requests storage.Subscription // the subscription to other members' requests for partitions
	risen    wait.Signal          // set when the lease was renewed
	ctx      context.Context      // ends when everything must end at once
	cancel   context.CancelFunc
	wg       sync.WaitGroup // counts the goroutines of the slots and of watch
	once     sync.Once
	// leaving is the context of Shutdown once Shutdown has begun, before that nil. staying ends when Shutdown begins.
	leaving  atomic.Pointer[context.Context]
	staying  context.Context
	depart   context.CancelFunc
	silent   atomic.Bool               // the table did not answer while this process was leaving
	regained atomic.Pointer[time.Time] // the time since which the lease is held again after an interruption, or nil

	mu   sync.Mutex
	news news
}

// news is what the session knows at the moment.
type news struct {
	view    *member.View
	plan    []member.ID   // by partition: the member that should own it
	changed chan struct{} // closed when these values are replaced
}

// begin joins, and begins a session.
func (c *Cluster) begin(ctx context.Context) (s *session, err error) {
	s = &session{c: c, risen: wait.NewSignal()}
	cfg := c.cfg.Member
	cfg.Rise = s.risen.Set
	if err = c.readable(ctx); err != nil {
		return nil, err
	}
	m, err := member.Join(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("joining: %w", err)
	}
	s.member = m
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.staying, s.depart = context.WithCancel(s.ctx)
	s.news.changed = make(chan struct{})
	for at := range c.cfg.Logs {
		s.slots = append(s.slots, newSlot(s, at))
	}
	s.now()
	if s.requests, err = c.cfg.Bus.Subscribe(s.requestSubject(m.ID()), s.requested); err != nil {
		s.cancel()
		m.Stop()
		return nil, fmt.Errorf("subscribing to requests of others: %w", err)
	}
	c.mu.Lock()
	c.session, c.lost = s, time.Time{}
	c.mu.Unlock()
	c.cfg.Logger.Info("durable: this process has joined", "member", member.Name(cfg.Text, m.ID()))
	s.wg.Go(s.watch)
	for _, slot := range s.slots {
		s.wg.Go(slot.run)
	}
	return s, nil
}

// watch wakes the slots whose tasks change. When the lease has returned, it resumes the partitions. When the lease is
// lost, it ends the slots, also while Close waits for a log that does not answer.
func (s *session) watch() {
	held := true
	fall := time.NewTimer(s.c.cfg.Member.Lease)
	defer fall.Stop()
	for {
		select {
		case <-s.member.Changed():
			s.now()
		case <-s.risen:
			if !s.member.Holds() { // only another member's record was renewed
				continue
			}
			_ = s.lookAtClock() // the slots call lookAtClock themselves, so the error is of no use here
			fall.Reset(s.c.cfg.Member.Lease)
			if !held {
				now := time.Now()
				s.regained.Store(&now)
				s.c.cfg.Logger.Info("durable: this process has its lease again")
			}
			held = true
			for _, p := range s.c.allOwned() {
				p.Resume()
			}
		case <-fall.C:
			if held = s.member.Holds(); !held {
				s.c.cfg.Logger.Warn("durable: the lease of this process has ended, and calls wait: the servers don't answer")
			}
		case <-s.member.Lost():
			s.cancel()
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// now returns the member's view and the plan, including a claim that was just taken. If the view has changed, it wakes
// the slots that wait for a new view.
func (s *session) now() news {
	s.mu.Lock()
	defer s.mu.Unlock()
	if view := s.member.View(); view != s.news.view {
		s.learn(view)
	}
	return s.news
}

// learn computes the plan of a new view, and wakes the slots whose tasks have changed. Most changes of the table
// concern one partition: if each change woke all slots, opening n partitions would take time proportional to n². mu is
// held.
func (s *session) learn(view *member.View) {
	old := s.news
	s.c.sees(old.view, view)
	s.news = news{view, view.Plan(), make(chan struct{})}
	close(old.changed)
	if old.view == nil {
		return // the slots have not begun
	}
	for at, slot := range s.slots {
		if s.news.of(at) != old.of(at) {
			slot.changed.Set()
		}
	}
}

// nameOf returns the name of a member in logs.
func (s *session) nameOf(id member.ID) string {
	if id == 0 {
		return "nobody"
	}
	if p, ok := s.now().view.Peer(id); ok {
		return p.Name()
	}
	return member.Name("", id)
}

// task determines what a slot does.
type task struct {
	claim member.Claim
	plan  member.ID // the member that should own the partition
}

func (n *news) of(at int) task { return task{n.view.Claims[at], n.plan[at]} }

// stop ends the goroutines of the session, and waits for them.
func (s *session) stop() {
	s.once.Do(func() {
		s.requests.Stop()
		s.cancel()
		s.wg.Wait()
		s.member.Stop()
	})
}

// close ends the session for Cluster.Close. Calls that are queued are still written, and the lease is left to run out.
func (s *session) close() {
	var wg sync.WaitGroup
	for _, p := range s.c.allOwned() {
		wg.Go(p.Close)
	}
	wg.Wait()
	s.stop()
}
