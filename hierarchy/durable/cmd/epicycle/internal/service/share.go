package service

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// share has this server ask the pacers of limits for attempts, for which there is no other server to ask if the timers are
// in a directory. For each limit it asks one question at a time.
type share struct {
	peers *peers
	gate  *lane.Gate
	pacer *pacer

	mu     sync.Mutex
	asking map[limits.Scope]bool
}

// The operations of requests about limits.
const (
	opAsk   = "ask"   // a server wants attempts
	opHeld  = "held"  // a server tells how many it holds
	opEnded = "ended" // attempts have ended, or are not needed
	opTell  = "tell"  // servers are to tell how many they hold
)

const (
	// mostGranted limits how many attempts are granted at once.
	mostGranted = 64
	// ahead is how many attempts of a rate are granted at once: those of this time.
	ahead = 20 * time.Millisecond
	// spareTime is after how long a server gives back what it was granted and does not need.
	spareTime = 100 * time.Millisecond
	// againTime is how long a server waits after a question that nobody has answered.
	againTime = 250 * time.Millisecond
)

func newShare(p *peers) *share {
	s := &share{peers: p, asking: make(map[limits.Scope]bool)}
	s.pacer = newPacer(p.id,
		func(scope limits.Scope) bool { return p.service.Owns(scope.String()) },
		func(scope limits.Scope) limits.Limit { return p.service.limits.are()[scope] },
		func(scope limits.Scope) {
			s.publish(&request{Op: opTell, Scope: scope})
			p.begin(func() { // which has the lock of the pacer now
				_, held := s.gate.Shared(scope)
				s.pacer.hold(scope, p.id, held)
			})
		},
	)
	return s
}

// Want implements lane.Sharing.
func (s *share) Want(scope limits.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asking[scope] {
		s.asking[scope] = s.peers.begin(func() { s.askFor(scope) })
	}
}

// Ended implements lane.Sharing.
func (s *share) Ended(scope limits.Scope) {
	s.publish(&request{Op: opEnded, Scope: scope, Ended: 1})
}

// askFor asks until no timer waits because of a limit.
func (s *share) askFor(scope limits.Scope) {
	life := s.peers.service.life
	for life.Err() == nil {
		waiting, held := s.gate.Shared(scope)
		if waiting == 0 {
			if s.rest(scope) {
				return
			}
			continue
		}
		l := s.peers.service.limits.are()[scope]
		want := min(waiting, mostGranted)
		if l.Rate > 0 {
			want = min(want, 1+int(l.Rate*ahead.Seconds()))
		}
		n, err := s.ask(life, scope, want, held)
		switch {
		case err != nil:
			sleep(life, againTime)
		case n > 0:
			s.gate.Grant(scope, n)
			_, _ = s.peers.service.wheel.AfterFunc(spareTime, func() { s.spare(scope) })
		}
	}
}

// rest ends the questions about a limit, unless timers wait by now, whose question has not begun.
func (s *share) rest(scope limits.Scope) bool {
	s.mu.Lock()
	delete(s.asking, scope)
	s.mu.Unlock()
	if waiting, _ := s.gate.Shared(scope); waiting == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking[scope] {
		return true
	}
	s.asking[scope] = true
	return false
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// spare gives back what was granted and is not used.
func (s *share) spare(scope limits.Scope) {
	if n := s.gate.Spare(scope); n > 0 {
		s.publish(&request{Op: opEnded, Scope: scope, Ended: n})
	}
}

// ask asks the pacer of a limit, this server or another one, for attempts, and waits for the answer.
func (s *share) ask(ctx context.Context, scope limits.Scope, want, held int) (granted int, err error) {
	ctx, cancel := context.WithTimeout(ctx, questionTime+againTime)
	defer cancel()
	here := make(chan int, 1)
	if s.pacer.ask(scope, s.peers.id, want, held, func(n int) { here <- n }) {
		select {
		case n := <-here:
			return n, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	answers := make(chan *nats.Msg, maxAnswers)
	inbox := s.peers.conn.NewInbox()
	sub, err := s.peers.conn.ChanSubscribe(inbox, answers)
	if err != nil {
		return 0, err
	}
	defer sub.Unsubscribe()
	r := request{Op: opAsk, From: s.peers.id, Scope: scope, Want: want, Held: held}
	data, err := json.Marshal(&r)
	if err == nil {
		err = s.peers.conn.PublishRequest(s.peers.subject, inbox, data)
	}
	if err != nil {
		return 0, err
	}
	select {
	case m := <-answers:
		var got reply
		err := json.Unmarshal(m.Data, &got)
		return got.Granted, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// publish sends something to all servers, this one included.
func (s *share) publish(r *request) {
	r.From = s.peers.id
	if data, err := json.Marshal(r); err == nil {
		_ = s.peers.conn.Publish(s.peers.subject, data)
	}
	if r.Op == opEnded {
		s.pacer.end(r.Scope, r.From, r.Ended)
	}
}

// hear handles what another server sends about limits.
func (s *share) hear(m *nats.Msg, r *request) {
	switch r.Op {
	case opAsk:
		s.pacer.ask(r.Scope, r.From, r.Want, r.Held, func(n int) { _ = s.peers.answer(m, &reply{Granted: n}) })
	case opEnded:
		s.pacer.end(r.Scope, r.From, r.Ended)
	case opHeld:
		s.pacer.hold(r.Scope, r.From, r.Held)
	case opTell:
		s.tellHeld(r.Scope)
	}
}

// tellHeld tells the pacer of a limit what this server holds.
func (s *share) tellHeld(scope limits.Scope) {
	if _, held := s.gate.Shared(scope); held > 0 {
		s.publish(&request{Op: opHeld, Scope: scope, Held: held})
		s.pacer.hold(scope, s.peers.id, held)
	}
}

// repeat tells the pacers from time to time what this server holds. A question tells it, too, and its answer may be under
// way.
func (s *share) repeat() {
	life := s.peers.service.life
	for life.Err() == nil {
		sleep(life, askEvery)
		for scope := range s.peers.service.limits.are() {
			s.mu.Lock()
			asking := s.asking[scope]
			s.mu.Unlock()
			if !asking {
				s.tellHeld(scope)
			}
		}
	}
}
