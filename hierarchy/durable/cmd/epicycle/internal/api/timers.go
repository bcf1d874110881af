package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

var (
	errNoTimer  = problem(http.StatusNotFound, "there is no timer with this key")
	errNoneDead = problem(http.StatusNotFound, "there is no dead timer with this key")
)

func timerOf(e *service.Entry) Timer {
	t := Timer{
		Key: e.Key, To: targetOf(e.Value.To), Timeout: e.Value.Timeout.String(),
		Due: e.Due.UTC(), Attempt: e.Attempt, State: e.State.String(),
		Schedule: e.Schedule.String(), LastError: e.LastError, LastFailed: optional(e.LastFailed), Next: optional(e.Next),
	}
	t.Value, t.Text = embed(e.Value.Value)
	if e.ID != (durable.ID{}) {
		t.ID = e.ID.String()
	}
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
	return a.timer(ctx, in.Key, errNoTimer)
}

// timer answers with the timer of a key.
func (a *API) timer(ctx context.Context, key string, absent *Problem) (*timerOutput, error) {
	e, ok, err := a.Service.Lookup(ctx, key)
	if err != nil {
		return nil, failure(err)
	}
	if !ok {
		return nil, absent
	}
	return &timerOutput{timerOf(&e)}, nil
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
	d := due.from(time.Now())
	return a.change(ctx, in.Key, d, errNoTimer, func() (bool, error) { return a.Service.Move(ctx, in.Key, d) })
}

// change calls f, which must make the timer of a key due after the time in, and answers with the timer.
func (a *API) change(ctx context.Context, key string, in time.Duration, absent *Problem, f func() (bool, error)) (*timerOutput, error) {
	soon := a.soon(key, in)
	defer soon.stop()
	var before service.Entry
	if soon.watch != nil {
		var err error
		if before, _, err = a.Service.Lookup(ctx, key); err != nil {
			return nil, failure(err)
		}
	}
	ok, err := f()
	if err != nil {
		return nil, failure(err)
	}
	if !ok {
		return nil, absent
	}
	e, ok, err := a.Service.Lookup(ctx, key)
	switch {
	case err != nil:
		return nil, failure(err)
	case ok:
	case before.Key == key:
		e = soon.ended(service.Entry{Key: key, Value: before.Value, Schedule: before.Schedule, Due: time.Now().Add(in)})
	default:
		return nil, absent
	}
	return &timerOutput{timerOf(&e)}, nil
}

var errMoving = errors.New("there must be exactly one of in and at")

func (m *Moving) parse() (due, error) {
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
	if err != nil {
		return nil, failure(err)
	}
	if !ok {
		return nil, errNoTimer
	}
	return &timerOutput{timerOf(&e)}, nil
}

func (a *API) revive(ctx context.Context, in *getInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Write, in.Key); err != nil {
		return nil, err
	}
	return a.change(ctx, in.Key, 0, errNoneDead, func() (bool, error) { return a.Service.Revive(ctx, in.Key) })
}
