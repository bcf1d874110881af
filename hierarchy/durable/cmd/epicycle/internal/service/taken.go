package service

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
)

// taken holds the attempts that workers have taken from queues. No goroutine waits for them.
type taken struct {
	mu   sync.Mutex
	all  map[string]*one // by token
	idle chan struct{}   // if not nil, closed when there are no attempts
}

// one is an attempt that was taken.
type one struct {
	*Attempt
	queue string
	timer hierarchy.Timer
}

// Taken is a firing that was taken, and the token that ends its attempt.
type Taken struct {
	*Attempt
	Token string
}

func (t *taken) init() { t.all = make(map[string]*one) }

func (t *taken) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// remove removes and returns the attempt of a token, so that only one caller can end it. It returns nil if there is no
// such attempt, or if allows returns false.
func (t *taken) remove(token string, allows func(*one) bool) *one {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.all[token]
	if o == nil || !allows(o) {
		return nil
	}
	delete(t.all, token)
	if len(t.all) == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
	return o
}

func (t *taken) tokens() (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for token := range t.all {
		all = append(all, token)
	}
	return all
}

// wait waits until there are no attempts, or until ctx is done.
func (t *taken) wait(ctx context.Context) {
	t.mu.Lock()
	if len(t.all) == 0 {
		t.mu.Unlock()
		return
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	t.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// newToken returns a token that nobody can guess.
func newToken() string {
	var b [18]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Take takes the firings of a queue that are due, at most max, and waits for the first one until ctx is done. It takes
// only firings whose keys are allowed.
func (s *Service) Take(ctx context.Context, queue string, max int, allows func(key string) bool) (all []Taken) {
	for !s.Draining() {
		for len(all) < max {
			due := s.queues.Pop(queue, max-len(all), allows)
			if len(due) == 0 {
				break
			}
			for _, d := range due {
				if t, ok := s.begin(queue, d); ok {
					all = append(all, t)
				}
			}
		}
		if len(all) > 0 || ctx.Err() != nil || !s.queues.Wait(ctx, queue, allows) {
			break
		}
	}
	return all
}

// begin begins the attempt of a timer from a queue.
func (s *Service) begin(queue string, d lane.Due) (Taken, bool) {
	a, ok := s.Begin(d.Key, d.ID)
	if !ok {
		return Taken{}, false
	}
	o := &one{Attempt: a, queue: queue}
	token := newToken()
	s.taken.mu.Lock()
	defer s.taken.mu.Unlock()
	s.taken.all[token] = o
	o.timer, _ = s.wheel.AfterFunc(a.Value.Timeout, func() { s.end(token, errTimeout) }) // fails if the wheel was stopped, at the end
	return Taken{a, token}, true
}

// end ends an attempt with an error. It does not wait for the log.
func (s *Service) end(token string, err error) {
	if o := s.taken.remove(token, func(*one) bool { return true }); o != nil {
		o.timer.Stop()
		_, _ = o.End(nowait, err)
	}
}

var errUnread = errors.New("the connection ended before the firing was sent")

// GiveBack ends attempts whose firings did not reach the worker that took them. Their timers are due again at once.
func (s *Service) GiveBack(all []Taken) {
	for _, t := range all {
		s.end(t.Token, durable.RetryAfter(0, errUnread))
	}
}

// errToken is the answer for an unknown token, or one whose attempt has ended.
var errToken = errors.New("the attempt has ended, or there was none with this token")

// endTime is how long an answer waits for the log.
const endTime = time.Minute

// End ends the attempts of tokens that were taken from a queue. If result is nil, they have succeeded. It returns an
// error for each attempt that it could not end.
func (s *Service) End(ctx context.Context, queue string, tokens []string, result error, allows func(key string) bool) []error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	errs := make([]error, len(tokens))
	var wg sync.WaitGroup
	for i, token := range tokens {
		o := s.taken.remove(token, func(o *one) bool { return o.queue == queue && allows(o.Key) })
		if o == nil {
			errs[i] = errToken
			continue
		}
		o.timer.Stop()
		wg.Go(func() {
			ended, err := o.End(ctx, result)
			if err == nil && !ended {
				err = errToken
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errs
}

// TakeWithin is Take, but waits for no longer than wait. If ctx is done first, the firings that were taken are given
// back.
func (s *Service) TakeWithin(ctx context.Context, queue string, max int, wait time.Duration, allows func(key string) bool) []Taken {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	all := s.Take(waiting, queue, max, allows)
	if ctx.Err() != nil {
		s.GiveBack(all)
		return nil
	}
	return all
}
