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

// nowait is a cancelled context, for calls of Attempt.End that do not wait for the log.
var nowait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// send makes an attempt to deliver a timer to a webhook or a subject. If the partition of the timer is handed over
// meanwhile, the attempt goes on, and ends there.
func (s *Service) send(d lane.Due) lane.Outcome {
	a, ok := s.Begin(d.Key, d.ID)
	if !ok {
		return lane.Unknown
	}
	if a.Value.To.Kind == task.Queue {
		_, _ = a.End(nowait, errElsewhere)
		return lane.Unknown
	}
	token := s.sending.begin(a)
	defer s.sending.end(a)
	outcome, err := s.attempt(a)
	if err != nil && s.life.Err() != nil {
		err = errShutdown
	}
	s.work.begin(func() { s.finish(a, token, err) })
	return outcome
}

// finish ends an attempt of send. It may wait for the log, which says nothing about the host.
func (s *Service) finish(a *Attempt, token durable.Token, err error) {
	end := a.End
	if err != nil && err != errShutdown {
		err = s.paused(a, err)
		end = func(ctx context.Context, err error) (bool, error) { return s.fail(ctx, a, err) }
	}
	if _, e := end(nowait, err); errors.Is(e, durable.ErrLeft) {
		s.endLeft(a, token, err)
	}
}

// endLeft ends an attempt whose timer was handed over meanwhile.
func (s *Service) endLeft(a *Attempt, token durable.Token, result error) {
	ctx, cancel := context.WithTimeout(context.Background(), leftTime)
	defer cancel()
	ended, err := s.EndAttempt(ctx, a.Key, token, result)
	switch {
	case err != nil:
		s.logger.Warn("epicycle: a request that was made comes again: its partition has no owner", "err", err)
	case ended && result != nil && result != errShutdown:
		s.failed(&failure{placeOf(a.Value.To), a.Key, a.ID, a.Attempt, result, traceAttrs(a)})
	}
}

// leftTime limits the time for which a request that was made keeps its place until the next owner of its partition has
// written that.
const leftTime = 5 * time.Second

// attempt returns what an attempt has shown about the host, and the error of the attempt. It returns when the timeout is
// over or the service is shut down, whatever the receiver does.
func (s *Service) attempt(a *Attempt) (lane.Outcome, error) {
	late := timeoutError(a.Value.Timeout)
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(a.Context()), a.Value.Timeout, late)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	defer context.AfterFunc(a.Context(), func() {
		if context.Cause(a.Context()) != durable.ErrLeft {
			cancel()
		}
	})()
	answered, err := s.deliver(ctx, a)
	switch {
	case answered:
		return lane.Answered, err
	case ctx.Err() != nil && context.Cause(ctx) != late: // the timer was set or removed, or the service is shut down
		return lane.Unknown, err
	default:
		return lane.Silent, err
	}
}

// deliver reports whether there was an answer, whatever it said.
func (s *Service) deliver(ctx context.Context, a *Attempt) (answered bool, err error) {
	if a.Value.To.Kind == task.Subject {
		err := s.subject.publish(ctx, a)
		if err != nil && ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return true, err
	}
	return s.sender.Send(ctx, &web.Request{
		URL: a.Value.To.Name, Key: a.Key, ID: a.ID.String(), Due: a.Due, Attempt: a.Attempt, Body: a.Value.Value,
		Trace: traceOf(a),
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
