package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// session is one membership of this process.
type session struct {
	c        *Cluster
	member   *member.Member
	slots    []*slot
	requests storage.Subscription // of others, for partitions
	risen    wait.Signal          // the lease was renewed
	ctx      context.Context      // ends when everything must end at once
	cancel   context.CancelFunc
	wg       sync.WaitGroup // of the slots, and of watch
	once     sync.Once
	// leaving is the context of Shutdown, once that has begun. Then staying ends.
	leaving  atomic.Pointer[context.Context]
	staying  context.Context
	depart   context.CancelFunc
	silent   atomic.Bool               // the table did not answer while this process was leaving
	regained atomic.Pointer[time.Time] // since when the lease is held again, if it was not meanwhile

	mu   sync.Mutex
	news news
}

// news is what the session knows now.
type news struct {
	view    *member.View
	plan    []member.ID   // who should own each partition
	changed chan struct{} // closed when it is replaced
}

// begin joins, and begins a session.
func (c *Cluster) begin(ctx context.Context) (s *session, err error) {
	s = &session{c: c, risen: wait.NewSignal()}
	cfg := c.cfg.Member
	cfg.Rise, cfg.Wire = s.risen.Set, remote.Latest
	if cfg.Log == 0 {
		cfg.Log = frame.Version
	}
	if cfg.Unable, err = c.unreadable(ctx); err != nil {
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

// watch wakes the slots whose task changes, and resumes the partitions when the lease is back.
func (s *session) watch() {
	held := true
	fall := time.NewTimer(s.c.cfg.Member.Lease)
	defer fall.Stop()
	for {
		select {
		case <-s.member.Changed():
			s.now()
		case <-s.risen:
			if !s.member.Holds() { // it was a record of another member
				continue
			}
			_ = s.lookAtClock() // each slot looks for itself
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
		case <-s.ctx.Done():
			return
		}
	}
}

// now returns what the member knows, and the plan. It is up to date, including a claim that was just taken. If the view
// has changed, it wakes those that wait for that.
func (s *session) now() news {
	s.mu.Lock()
	defer s.mu.Unlock()
	if view := s.member.View(); view != s.news.view {
		s.learn(view)
	}
	return s.news
}

// learn plans anew, and wakes the slots whose task is another then. Most changes of the table concern one partition: if
// each woke all slots, opening many partitions would take the square of their number. mu is held.
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

// task is what decides what a slot does.
type task struct {
	claim member.Claim
	plan  member.ID // who should own the partition
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

// close is for Cluster.Close: calls that were made are written, and the lease is left to run out.
func (s *session) close() {
	var wg sync.WaitGroup
	for _, p := range s.c.allOwned() {
		wg.Go(p.Close)
	}
	wg.Wait()
	s.stop()
}
