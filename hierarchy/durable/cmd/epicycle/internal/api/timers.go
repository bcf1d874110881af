package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

var (
	errNoTimer  = problem(http.StatusNotFound, "there is no timer with this key")
	errNoneDead = problem(http.StatusNotFound, "there is no dead timer with this key")
)

// timerOf returns a timer as it is in answers. headers is whether these have the values of headers.
func timerOf(e *service.Entry, headers bool) Timer {
	t := Timer{
		Key: e.Key, To: targetOf(&e.Value, headers), Timeout: e.Value.Timeout.String(), Retry: retryOf(&e.Value.Retry),
		Due: e.Due.UTC(), ID: e.ID.String(), Attempt: e.Attempt, State: e.State.String(),
		Schedule: e.Schedule.String(), Paused: e.Paused, LastError: e.LastError, LastFailed: optional(e.LastFailed), Next: optional(e.Next),
	}
	t.Value, t.Text = embed(e.Value.Value)
	return t
}

// optional returns nil for the zero time.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

type getInput struct{ Keyed }

func (a *API) get(ctx context.Context, in *getInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Read, in.Key); err != nil {
		return nil, err
	}
	e, ok, err := a.Service.Lookup(ctx, in.Key)
	out, err := answer(&e, ok, err, errNoTimer, seesHeaders(ctx))
	if err == nil {
		out.Body.Attempts = attemptsOf(a.Service.Attempts(ctx, &e))
		if s, ok := a.Service.LimitedBy(&e); ok {
			out.Body.LimitedBy = s.String()
		}
	}
	return out, err
}

func attemptsOf(some []service.Tried) (all []Attempt) {
	for _, one := range some {
		all = append(all, Attempt{one.At.UTC(), one.Took.String(), one.Status, one.Error})
	}
	return all
}

func (a *API) move(ctx context.Context, in *getInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Write, in.Key); err != nil {
		return nil, err
	}
	body, err := decodeBody[Moving](ctx, settingLimit)
	if err != nil {
		return nil, err
	}
	due, err := body.parse()
	if err != nil {
		return nil, bad(err)
	}
	if body.Paused != nil {
		return a.pause(ctx, in.Key, *body.Paused)
	}
	defer a.Service.Changing(in.Key)()
	if due.at.IsZero() {
		return a.moved(a.Service.Move(ctx, in.Key, due.in))
	}
	return a.moved(a.Service.MoveAt(ctx, in.Key, due.at))
}

func (a *API) moved(e service.Entry, ok bool, err error) (*timerOutput, error) {
	a.tell(service.EventMoved, &e, ok && err == nil)
	return answer(&e, ok, err, errNoTimer, true)
}

// tell tells those who follow what has happened to a timer, if it has.
func (a *API) tell(kind string, e *service.Entry, has bool) {
	if has {
		a.Service.Tell(kind, e.Key, e.ID)
	}
}

// answer returns the answer with a timer. ok is false if there is none. headers is whether it has the values of headers.
func answer(e *service.Entry, ok bool, err error, absent *Problem, headers bool) (*timerOutput, error) {
	switch {
	case err != nil:
		return nil, failure(err)
	case !ok:
		return nil, absent
	}
	return &timerOutput{timerOf(e, headers)}, nil
}

var errMoving = errors.New("there must be exactly one of in, at and paused")

func (m *Moving) parse() (due, error) {
	if m.Paused != nil {
		if m.In+m.At != "" {
			return due{}, errMoving
		}
		return due{}, nil
	}
	w := When{In: m.In, At: m.At}
	d, err := w.parse()
	if errors.Is(err, errTime) {
		err = errMoving
	}
	return d, err
}

func (a *API) remove(ctx context.Context, in *getInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Write, in.Key); err != nil {
		return nil, err
	}
	e, ok, err := a.Service.RemoveEntry(ctx, in.Key)
	a.tell(service.EventRemoved, &e, ok && err == nil)
	return answer(&e, ok, err, errNoTimer, true)
}

func (a *API) revive(ctx context.Context, in *getInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Write, in.Key); err != nil {
		return nil, err
	}
	defer a.Service.Changing(in.Key)()
	e, ok, err := a.Service.ReviveEntry(ctx, in.Key)
	a.tell(service.EventMoved, &e, ok && err == nil)
	return answer(&e, ok, err, errNoneDead, true)
}
