package service

import (
	"cmp"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// defaultAttempts is the number of failed attempts after which a timer is dead that has no other, and neither has the
// server.
const defaultAttempts = 16

// limitAttempts has this package, which knows the Retry of a timer, decide when the timer is dead, instead of package
// durable. Package durable still does that for what it can't decode.
func (s *Service) limitAttempts(cfg *durable.Config[string, task.Task]) {
	s.maxAttempts = cmp.Or(cfg.MaxAttempts, defaultAttempts)
	if cfg.MaxAttempts >= 0 {
		cfg.MaxAttempts = max(cfg.MaxAttempts, task.MaxAttempts)
	}
}

// verdict returns the error of an attempt that has failed, with what follows: that the timer is dead, or after which
// pause it is tried again. The receiver can ask for a longer pause than the usual one, and not for a shorter one:
// receivers whose clocks are slow would get all attempts of all timers at once.
func (s *Service) verdict(t *task.Task, attempt int, err error) error {
	if most := cmp.Or(t.Retry.Attempts, s.maxAttempts); most > 0 && attempt >= most {
		return &last{durable.Permanent(err)}
	}
	later, asked := errors.AsType[*web.Later](err)
	switch {
	case asked:
		return durable.RetryAfter(max(later.In, s.pauseAfter(t, attempt)), err)
	case t.Retry.HasPauses():
		return durable.RetryAfter(s.pauseAfter(t, attempt), err)
	}
	return err
}

// pauseAfter returns the usual pause after a failed attempt.
func (s *Service) pauseAfter(t *task.Task, attempt int) time.Duration {
	if t.Retry.HasPauses() {
		return t.Retry.Pause(attempt)
	}
	return s.backoff(attempt)
}

// backoff is the usual pause of timers that have no other.
func backoff(attempt int) time.Duration { return new(task.Retry).Pause(attempt) }

// isOver reports whether a timer that is due has had all its attempts. Then the last one was left by a server that has
// gone, and nobody has ended it in time.
func isOver(f *Firing) bool {
	return f.Value.Retry.Attempts > 0 && f.Attempt > f.Value.Retry.Attempts
}

// errUnanswered is the error of a last attempt that nobody has ended in time.
var errUnanswered = &last{durable.Permanent(errors.New("the attempt was not ended in time"))}

// last is the error of a last attempt. It wraps a durable.Permanent.
type last struct{ error }

func (l *last) Unwrap() error { return l.error }

// isFinal reports whether a timer is dead, or its run over, after an attempt with this error.
func isFinal(err error) bool {
	_, isLast := errors.AsType[*last](err)
	_, isGone := errors.AsType[*web.Gone](err)
	return isLast || isGone
}
