package service

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// failures decides which failed attempts are logged: of each place at most one a minute, with the number of those that
// were not logged since the one before. It holds a place for a minute after its last failure, and no more than
// maxPlaces of them. All others count as one place.
type failures struct {
	mu     sync.Mutex
	places map[place]*spell
}

const (
	// spellTime is the least time between two lines about a place.
	spellTime = time.Minute
	maxPlaces = 1000
	// lineTime limits the wait for the log before a line is written. After that, the line does not have the time of the
	// next attempt.
	lineTime = 2 * time.Second
)

// place is where attempts fail: the host of webhooks, a subject or a queue.
type place struct {
	kind task.Kind
	name string
}

func placeOf(to task.Target) place {
	if to.Kind == task.Webhook {
		return place{to.Kind, to.Host()}
	}
	return place{to.Kind, to.Name}
}

// failure is an attempt that has failed.
type failure struct {
	place
	key     string
	id      durable.ID // zero if it is not known
	attempt int
	err     error
	trace   []any // what the log says of its trace, if it has one and it is known
}

// spell is the time after a line about a place in which there is no other one.
type spell struct {
	last  failure
	count int // the number of failures that were not logged
}

// add counts a failure, and reports whether it must be logged now. If so, at is the place for next.
func (f *failures) add(one *failure) (at place, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at = one.place
	if f.places[at] == nil && len(f.places) >= maxPlaces {
		at = place{}
	}
	if s := f.places[at]; s != nil {
		s.last = *one
		s.count++
		return at, false
	}
	if f.places == nil {
		f.places = make(map[place]*spell)
	}
	f.places[at] = new(spell)
	return at, true
}

// next is called spellTime after a line about a place. If attempts have failed there meanwhile, it returns the last of
// them, to be logged now, and how many others there were. Otherwise it forgets the place.
func (f *failures) next(at place) (last failure, others int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.places[at]
	if s.count == 0 {
		delete(f.places, at)
		return last, 0, false
	}
	last, others = s.last, s.count-1
	*s = spell{}
	return last, others, true
}

// fail ends an attempt that has failed, as Attempt.End does, and logs why, unless there was a line about its place a
// short time ago. If ctx is nowait, fail waits for the log only when it logs.
func (s *Service) fail(ctx context.Context, a *Attempt, err error) (bool, error) {
	if a.Context().Err() != nil { // the timer was changed meanwhile, or this server does not own it any more
		return a.End(ctx, err)
	}
	one := failure{placeOf(a.Value.To), a.Key, a.ID, a.Attempt, err, traceAttrs(a)}
	at, first := s.failing.add(&one)
	if !first {
		return a.End(ctx, err)
	}
	if ctx == nowait {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(s.life, lineTime)
		defer cancel()
	}
	ended, result := a.End(ctx, err)
	s.warn(&one, 0)
	s.afterSpell(at)
	return ended, result
}

// failed logs why an attempt has failed whose end is in the log, unless there was a line about its place a short time ago.
func (s *Service) failed(one *failure) {
	if at, first := s.failing.add(one); first {
		s.warn(one, 0)
		s.afterSpell(at)
	}
}

func (s *Service) afterSpell(at place) {
	_, _ = s.wheel.AfterFunc(spellTime, func() { s.spellEnds(at) }) // fails on a stopped wheel
}

func (s *Service) spellEnds(at place) {
	if last, others, ok := s.failing.next(at); ok {
		s.warn(&last, others)
		s.afterSpell(at)
	}
}

// warn logs a failure. The command's logger leaves the key out.
func (s *Service) warn(f *failure, suppressed int) {
	attrs := s.about(f)
	if suppressed > 0 {
		attrs = append(attrs, "suppressed", suppressed)
	}
	switch f.kind {
	case task.Webhook:
		s.logger.Warn("epicycle: a webhook failed", append([]any{"host", f.name}, attrs...)...)
	case task.Subject:
		s.logger.Warn("epicycle: a message failed", append([]any{"subject", f.name}, attrs...)...)
	case task.Queue:
		s.logger.Warn("epicycle: a firing of a queue failed", append([]any{"queue", f.name}, attrs...)...)
	}
}

// about describes a failure, and what follows it.
func (s *Service) about(f *failure) []any {
	ctx, cancel := context.WithTimeout(s.life, lineTime)
	defer cancel()
	e, ok, err := s.Lookup(ctx, f.key)
	attrs := append([]any{"key", f.key, "id", cmp.Or(f.id, e.ID), "attempt", f.attempt, "err", f.err}, f.trace...)
	switch {
	case err != nil || !ok || e.ID != cmp.Or(f.id, e.ID):
	case e.State == durable.StateDead:
		attrs = append(attrs, "dead", true)
	case !e.Next.IsZero():
		attrs = append(attrs, "next", e.Next.UTC().Format(time.RFC3339))
	}
	return attrs
}

// timeoutError is the error of an attempt without an answer in time.
func timeoutError(d time.Duration) error { return fmt.Errorf("no answer within the timeout %v", d) }
