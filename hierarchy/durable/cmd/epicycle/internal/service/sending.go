package service

import (
	"context"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// sending has the attempts that send is making, with the times at which they end at the latest. Their tokens last until
// then. An attempt that is handed over keeps its timer from the next owner for as long, even if this process is killed.
type sending struct {
	mu    sync.Mutex
	all   map[*Attempt]time.Time
	until time.Time // when all must have ended, or zero
}

// begin adds an attempt, and returns its token.
func (s *sending) begin(a *Attempt) durable.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[*Attempt]time.Time)
	}
	end := time.Now().Add(a.Value.Timeout)
	if !s.until.IsZero() && s.until.Before(end) {
		end = s.until
	}
	s.all[a] = end
	return a.Token(time.Until(end))
}

func (s *sending) end(a *Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, a)
}

// limit has no attempt last for longer than until leftTime after the end of ctx, when this process is about to end.
func (s *sending) limit(ctx context.Context) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = deadline.Add(leftTime)
	for a, end := range s.all {
		if s.until.Before(end) {
			s.all[a] = s.until
			a.Token(time.Until(s.until))
		}
	}
}
