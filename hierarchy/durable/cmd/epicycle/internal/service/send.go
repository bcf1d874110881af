package service

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// errTimeout is the error of an attempt without an answer in time.
var errTimeout = errors.New("no answer within the timeout")

// nowait is a cancelled context, for calls of Attempt.End that do not wait for the log.
var nowait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// send makes an attempt to deliver a timer to a webhook or a subject.
func (s *Service) send(d lane.Due) lane.Outcome {
	a, ok := s.Begin(d.Key, d.ID)
	if !ok {
		return lane.Unknown
	}
	outcome, err := s.attempt(a)
	if err != nil && s.life.Err() != nil {
		err = errShutdown
	}
	_, _ = a.End(nowait, s.paused(a, err))
	return outcome
}

// attempt returns what an attempt has shown about the host, and the error of the attempt. It returns when the timeout is
// over or the service is shut down, whatever the receiver does.
func (s *Service) attempt(a *Attempt) (lane.Outcome, error) {
	ctx, cancel := context.WithTimeoutCause(a.Context(), a.Value.Timeout, errTimeout)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	answered, err := s.deliver(ctx, a)
	switch {
	case answered:
		return lane.Answered, err
	case ctx.Err() != nil && context.Cause(ctx) != errTimeout: // the timer was set or removed, or the service is shut down
		return lane.Unknown, err
	default:
		return lane.Silent, err
	}
}

// deliver reports whether there was an answer, whatever it said.
func (s *Service) deliver(ctx context.Context, a *Attempt) (answered bool, err error) {
	if a.Value.To.Kind == task.Subject {
		err := s.subject.publish(ctx, a)
		return ctx.Err() == nil, err
	}
	return s.sender.Send(ctx, &web.Request{
		URL: a.Value.To.Name, Key: a.Key, ID: a.ID.String(), Due: a.Due, Attempt: a.Attempt, Body: a.Value.Value,
	})
}

// paused returns the error of an attempt with the pause that the receiver asks for, if that is longer than the usual one.
// It is never shorter: receivers whose clocks are slow would get all attempts of all timers at once.
func (s *Service) paused(a *Attempt, err error) error {
	if later := (*web.Later)(nil); errors.As(err, &later) {
		return durable.RetryAfter(max(later.In, s.backoff(a.Attempt)), err)
	}
	return err
}

const longestBackoff = 10 * time.Minute

// backoff returns the usual pause after a failed attempt: a second, doubled each time up to longestBackoff, half of it
// random.
func backoff(attempt int) time.Duration {
	d := longestBackoff
	if attempt < 12 {
		d = min(d, time.Second<<max(0, attempt-1))
	}
	return d/2 + rand.N(d/2)
}
