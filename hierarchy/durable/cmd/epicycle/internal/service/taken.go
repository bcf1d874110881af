package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
)

// taken holds the attempts of this server's timers that workers have taken from queues. No goroutine waits for them.
type taken struct {
	mu   sync.Mutex
	all  map[string]*one // by token
	idle chan struct{}   // if not nil, closed when there are no attempts
	over bool            // close was called
}

// one is an attempt that was taken.
type one struct {
	*Attempt
	queue string
	timer hierarchy.Timer
}

// Taken is a firing that was taken, and the token that ends its attempt.
type Taken struct {
	Token   string        `json:"token"`
	Key     string        `json:"key"`
	Value   []byte        `json:"value"`
	Due     time.Time     `json:"due"`
	ID      string        `json:"id"`
	Attempt int           `json:"attempt"`
	Timeout time.Duration `json:"timeout"`
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

// close lets nothing be taken any more, and returns the tokens that are left.
func (t *taken) close() (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
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

// sizeOf returns no less than the size of a firing in JSON.
func sizeOf(t *Taken) int {
	const others = 300 // all but key and value
	return 6*len(t.Key) + (len(t.Value)+2)/3*4 + others
}

// takeHere takes firings of this server's timers, at most max, until they need room bytes or more in JSON.
func (s *Service) takeHere(queue string, max, room int, prefix string) (all []Taken) {
	for len(all) < max && room > 0 && !s.Draining() {
		d, ok := s.queues.Pop(queue, allows(prefix))
		if !ok {
			break
		}
		if t, ok := s.begin(queue, d); ok {
			all = append(all, t)
			room -= sizeOf(&t)
		}
	}
	return all
}

// newToken returns a token that nobody can guess. If there are other servers, it begins with the ID of this one.
func (s *Service) newToken() string {
	if s.peers == nil {
		return rand.Text()
	}
	return s.peers.id + separator + rand.Text()
}

// begin begins the attempt of a timer from a queue.
func (s *Service) begin(queue string, d lane.Due) (Taken, bool) {
	a, ok := s.Begin(d.Key, d.ID)
	if !ok {
		return Taken{}, false
	}
	o := &one{Attempt: a, queue: queue}
	token := s.newToken()
	s.taken.mu.Lock()
	defer s.taken.mu.Unlock()
	if s.taken.over {
		_, _ = a.End(nowait, errShutdown)
		return Taken{}, false
	}
	s.taken.all[token] = o
	o.timer, _ = s.wheel.AfterFunc(a.Value.Timeout, func() { s.late(token) }) // fails on a stopped wheel
	return Taken{token, a.Key, a.Value.Value, a.Due, a.ID.String(), a.Attempt, a.Value.Timeout}, true
}

// end ends an attempt with an error. It does not wait for the log.
func (s *Service) end(token string, err error) {
	if o := s.taken.remove(token, func(*one) bool { return true }); o != nil {
		o.timer.Stop()
		_, _ = o.End(nowait, err)
	}
}

// late ends an attempt that has taken too long.
func (s *Service) late(token string) {
	if o := s.taken.remove(token, func(*one) bool { return true }); o != nil {
		_, _ = s.fail(nowait, o.Attempt, fmt.Errorf("the worker has given %w", timeoutError(o.Value.Timeout)))
	}
}

// errToken is the answer for an unknown token, or for a token whose attempt has ended.
var errToken = errors.New("the attempt has ended, or there was none with this token")

// endTime limits the wait of an answer for the log.
const endTime = 30 * time.Second

// endHere is End for tokens of this server.
func (s *Service) endHere(ctx context.Context, queue string, tokens []string, result error, prefix string) []error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	errs := make([]error, len(tokens))
	mayKey := allows(prefix)
	var wg sync.WaitGroup
	for i, token := range tokens {
		o := s.taken.remove(token, func(o *one) bool { return o.queue == queue && (mayKey == nil || mayKey(o.Key)) })
		if o == nil {
			errs[i] = errToken
			continue
		}
		o.timer.Stop()
		wg.Go(func() {
			end := o.End
			if result != nil {
				end = func(ctx context.Context, err error) (bool, error) { return s.fail(ctx, o.Attempt, err) }
			}
			ended, err := end(ctx, result)
			if err == nil && !ended {
				err = errToken
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errs
}
