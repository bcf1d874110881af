package service

import (
	"context"
	"errors"
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
	s.tell(EventBegun, a.Key, a.ID, a.Attempt, nil)
	begun := time.Now()
	outcome, status, err := s.attempt(a)
	if err != nil && s.life.Err() != nil {
		err = errShutdown
	}
	if a.Context().Err() == nil && err != errShutdown {
		s.ended(a, begun, status, err)
	}
	s.work.begin(func() { s.finish(a, token, err) })
	return outcome
}

// finish ends an attempt of send. It may wait for the log, which says nothing about the host.
func (s *Service) finish(a *Attempt, token durable.Token, err error) {
	end := a.End
	if err != nil && err != errShutdown {
		err = s.verdict(&a.Value, a.Attempt, err)
		end = func(ctx context.Context, err error) (bool, error) { return s.fail(ctx, a, err) }
	}
	tells := err != errShutdown
	if tells && a.Context().Err() == nil { // it was neither changed nor handed over
		s.tellEnd(a, err)
		tells = false
	}
	if _, e := end(nowait, err); errors.Is(e, durable.ErrLeft) {
		s.endLeft(a, token, err, tells)
	}
}

// endLeft ends an attempt whose timer was handed over meanwhile. tells is whether it tells those who follow.
func (s *Service) endLeft(a *Attempt, token durable.Token, result error, tells bool) {
	ctx, cancel := context.WithTimeout(context.Background(), leftTime)
	defer cancel()
	ended, err := s.EndAttempt(ctx, a.Key, token, result)
	switch {
	case err != nil:
		s.logger.Warn("epicycle: a request that was made comes again: its partition has no owner", "err", err)
	case ended && result != errShutdown:
		if tells {
			s.tellEnd(a, result)
		}
		if result != nil {
			s.failed(&failure{placeOf(a.Value.To), a.Key, a.ID, a.Attempt, result, traceAttrs(a)})
		}
	}
}

// leftTime limits the time for which a request that was made keeps its place until the next owner of its partition has
// written that.
const leftTime = 5 * time.Second

// attempt returns what an attempt has shown about the host, the status as deliver does, and the error of the attempt. It returns when the timeout is
// over or the service is shut down, whatever the receiver does.
func (s *Service) attempt(a *Attempt) (lane.Outcome, int, error) {
	late := timeoutError(a.Value.Timeout)
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(a.Context()), a.Value.Timeout, late)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	defer context.AfterFunc(a.Context(), func() {
		if context.Cause(a.Context()) != durable.ErrLeft {
			cancel()
		}
	})()
	status, err := s.deliver(ctx, a)
	switch {
	case status != 0:
		return lane.Answered, status, err
	case ctx.Err() != nil && context.Cause(ctx) != late: // the timer was set or removed, or the service is shut down
		return lane.Unknown, status, err
	default:
		return lane.Silent, status, err
	}
}

// noStatus is the status of an answer that has none.
const noStatus = -1

// deliver returns the status of the answer, noStatus, or 0 if there was no answer.
func (s *Service) deliver(ctx context.Context, a *Attempt) (status int, err error) {
	if a.Value.To.Kind == task.Subject {
		err := s.subject.publish(ctx, a)
		if err != nil && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return noStatus, err
	}
	return s.sender.Send(ctx, &web.Request{
		URL: a.Value.To.Name, Key: a.Key, ID: a.ID.String(), Due: a.Due, Attempt: a.Attempt, Body: a.Value.Value, Hook: a.Value.Hook,
		Trace: traceOf(a),
	})
}
