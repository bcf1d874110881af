package service

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Taken is a firing that was taken, and the token that ends its attempt.
type Taken struct {
	Token   string        `json:"token"`
	Key     string        `json:"key"`
	Value   []byte        `json:"value"`
	Due     time.Time     `json:"due"`
	ID      string        `json:"id"`
	Attempt int           `json:"attempt"`
	Timeout time.Duration `json:"timeout"`
	Trace   string        `json:"trace,omitempty"`
}

// sizeOf returns no less than the size of a firing in JSON.
func sizeOf(t *Taken) int {
	const others = 450 // all but the key, which is also in the token, and the value
	return 8*len(t.Key) + (len(t.Value)+2)/3*4 + others
}

// takeHere takes firings of this server's timers, at most max, until they need room bytes or more in JSON.
func (s *Service) takeHere(queue string, max, room int, prefix string) (all []Taken) {
	for len(all) < max && room > 0 && !s.Draining() {
		d, pass, ok := s.queues.Pop(queue, prefix)
		if !ok {
			break
		}
		if t, ok := s.begin(queue, d, pass); ok {
			all = append(all, t)
			room -= sizeOf(&t)
		}
	}
	return all
}

// begin begins the attempt of a timer from a queue, which counts for limits until it has ended. Whoever owns the timer later ends the attempt by its token, or when
// its timeout has passed.
func (s *Service) begin(queue string, d lane.Due, pass lane.Pass) (Taken, bool) {
	a, ok := s.Begin(d.Key, d.ID)
	if ok && a.Value.To != (task.Target{Kind: task.Queue, Name: queue}) {
		_, _ = a.End(nowait, errElsewhere)
		ok = false
	}
	if !ok {
		pass.End()
		return Taken{}, false
	}
	s.tell(EventBegun, a.Key, a.ID, a.Attempt, nil)
	begun := time.Now()
	token := tokenOf(a.Token(a.Value.Timeout), queue, a.Key)
	timer, _ := s.wheel.AfterFunc(a.Value.Timeout, func() { s.late(a, begun) }) // fails on a stopped wheel
	s.taken.Add(1)
	context.AfterFunc(a.Context(), func() {
		s.taken.Add(-1)
		pass.End()
		if timer.Stop() {
			_, _ = a.End(nowait, errToken)
			s.endedElsewhere(a, begun)
		}
	})
	return Taken{token, a.Key, a.Value.Value, a.Due, a.ID.String(), a.Attempt, a.Value.Timeout, traceOf(a)}, true
}

// errElsewhere is the error of an attempt of a timer that an import has given another target, with the same ID, while it
// waited. It is due again at once, at that target.
var errElsewhere = durable.Postpone(0, errors.New("the timer has another target"))

// A token for a worker has that of the attempt, a dot, and, encoded for URLs, a checksum of the queue's name and the key.

func tokenOf(t durable.Token, queue, key string) string {
	return t.String() + "." + base64.RawURLEncoding.EncodeToString(append(sumOf(queue), key...))
}

func sumOf(queue string) []byte {
	h := crc32.NewIEEE()
	_, _ = h.Write([]byte(queue))
	return h.Sum(nil)
}

// parseToken returns the attempt and the key of a token for a firing of a queue.
func parseToken(text, queue string) (t durable.Token, key string, err error) {
	name, rest, _ := strings.Cut(text, ".")
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil {
		return t, "", err
	}
	if key, ok := strings.CutPrefix(string(b), string(sumOf(queue))); ok {
		t, err = durable.ParseToken(name)
		return t, key, err
	}
	return t, "", errToken
}

// late ends an attempt that has taken too long.
func (s *Service) late(a *Attempt, begun time.Time) {
	err := s.verdict(&a.Value, a.Attempt, fmt.Errorf("the worker has given %w", timeoutError(a.Value.Timeout)))
	if a.Context().Err() == nil {
		s.ended(a, begun, 0, err)
		s.tellEnd(a, err)
	}
	_, _ = s.fail(nowait, a, err)
}

// errToken is the answer for an unknown token, or for a token whose attempt has ended.
var errToken = errors.New("the attempt has ended, or there was none with this token")

// endAtOnce limits how many attempts one request ends at once.
const endAtOnce = 1000

// End ends the attempts with these tokens, which were taken from a queue. If result is nil, the attempts have
// succeeded. It returns an error for each attempt that it could not end. It does not matter which server has handed them
// out.
func (s *Service) End(ctx context.Context, queue string, tokens []string, result error, prefix string) []error {
	errs := make([]error, len(tokens))
	places := make(chan struct{}, endAtOnce)
	var wg sync.WaitGroup
	for i, token := range tokens {
		places <- struct{}{}
		wg.Go(func() {
			errs[i] = s.end(ctx, queue, token, result, prefix)
			<-places
		})
	}
	wg.Wait()
	return errs
}

func (s *Service) end(ctx context.Context, queue, token string, result error, prefix string) error {
	t, key, err := parseToken(token, queue)
	if err != nil || !strings.HasPrefix(key, prefix) {
		return errToken
	}
	result, id, err := s.resultOf(ctx, key, t, result)
	defer s.Changing(key)()
	ok := false
	if err == nil {
		ok, err = s.EndAttempt(ctx, key, t, result)
	}
	if ok && result != errUnread {
		s.tellNow(endOf(result), key, id, t.Attempt(), result)
		if result != nil {
			s.failed(&failure{place: place{task.Queue, queue}, key: key, id: id, attempt: t.Attempt(), err: result})
		}
	}
	if errors.Is(err, durable.ErrArgument) || err == nil && !ok { // such as a key that no timer can have
		err = errToken
	}
	return err
}

// resultOf returns the result of an attempt with what follows if it has failed, and the ID of the timer if it was needed.
// If the key has another timer by now, the attempt has ended.
func (s *Service) resultOf(ctx context.Context, key string, t durable.Token, result error) (error, durable.ID, error) {
	failed := result != nil && result != errUnread
	if !failed && !s.Followed() {
		return result, durable.ID{}, nil
	}
	e, _, err := s.Lookup(ctx, key)
	if failed {
		result = s.verdict(&e.Value, t.Attempt(), result)
	}
	return result, e.ID, err
}

// errUnread is the error of firings that were given back. They are due again at once, and the attempt does not count.
var errUnread = durable.Postpone(0, errors.New("the connection ended before the firing was sent"))

// giveBackTime limits how long GiveBack tries.
const giveBackTime = 30 * time.Second

// GiveBack ends attempts whose firings did not reach the worker that took them. It does not wait for the log.
func (s *Service) GiveBack(queue string, all []Taken) {
	if len(all) == 0 {
		return
	}
	tokens := make([]string, len(all))
	for i := range all {
		tokens[i] = all[i].Token
	}
	s.work.begin(func() {
		ctx, cancel := context.WithTimeout(context.Background(), giveBackTime)
		defer cancel()
		s.End(ctx, queue, tokens, errUnread, "")
	})
}
