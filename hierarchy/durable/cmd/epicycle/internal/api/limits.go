package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

// Limit is a limit of attempts in answers.
type Limit struct {
	Kind    string  `json:"kind" enum:"queue,host,subject,prefix" doc:"What it is for: the timers of a queue, of a host, of a subject, or those whose keys have a prefix"`
	Name    string  `json:"name" example:"mails"`
	Paused  bool    `json:"paused" doc:"No attempt begins"`
	Rate    float64 `json:"rate,omitempty" doc:"So many attempts begin in a second; absent: any number" example:"2.5"`
	AtOnce  int     `json:"at_once,omitempty" doc:"So many attempts are made at once; absent: any number" example:"5"`
	Waiting int     `json:"waiting" doc:"Timers that are due and wait because of it"`
}

// Limits are all limits.
type Limits struct {
	Limits []Limit `json:"limits" nullable:"false"`
}

// Limiting is the body of a request to change a limit. What is left out stays.
type Limiting struct {
	Paused *bool    `json:"paused,omitempty" doc:"Whether no attempt begins"`
	Rate   *float64 `json:"rate,omitempty" doc:"Attempts that begin in a second, 0.5 for one every 2s; 0: any number" example:"2.5"`
	AtOnce *int     `json:"at_once,omitempty" doc:"Attempts at once; 0: any number" example:"5"`
}

func limitOfService(l *service.Limited) Limit {
	return Limit{string(l.Kind), l.Name, l.Paused, l.Rate, l.AtOnce, l.Waiting}
}

// LimitName is the path of a limit.
type LimitName struct {
	Kind string `path:"kind" enum:"queue,host,subject,prefix"`
	Name string `path:"name" maxLength:"1024" doc:"The name of a queue, a host with or without a port, a subject, or the prefix of keys, percent-encoded"`
}

type limitOutput struct{ Body Limit }

func (a *API) registerLimits(api huma.API) {
	look := func(id, path, summary string, codes ...int) huma.Operation {
		op := timer("GET", id, path, summary)
		op.Errors = append(codes, 400, 401, 403) // the timers are not asked
		return op
	}
	huma.Register(api, look("limits", "/v1/limits", "All limits of attempts"), a.limits)
	huma.Register(api, look("limit", "/v1/limits/{kind}/{name}", "A limit of attempts", 404), a.limit)
	huma.Register(api, with[Limiting](timer("PATCH", "change-limit", "/v1/limits/{kind}/{name}", "Pause, resume or limit attempts")), a.changeLimit)
	huma.Register(api, timer("DELETE", "remove-limit", "/v1/limits/{kind}/{name}", "Remove a limit of attempts", 404), a.removeLimit)
}

var (
	errNoLimit   = problem(http.StatusNotFound, "there is no such limit")
	errMost      = problem(http.StatusTooManyRequests, limits.ErrMost.Error())
	errNoChange  = errors.New("there must be paused, rate or at_once")
	errLimitRole = problem(http.StatusForbidden, "the token is for keys with a prefix, and may limit only prefixes with that prefix")
)

type limitsInput struct {
	Prefix string `query:"prefix" doc:"Only limits of prefixes, and of these those that are for some keys with this one"`
}

// limits answers with the limits. A bearer who may see some keys sees the limits of prefixes that are for some of these.
func (a *API) limits(ctx context.Context, in *limitsInput) (*struct{ Body Limits }, error) {
	prefix, err := a.mayPrefix(ctx, access.Read, in.Prefix)
	if err != nil {
		return nil, err
	}
	out := &struct{ Body Limits }{Limits{Limits: []Limit{}}}
	for _, l := range a.Service.Limits(ctx) {
		if prefix == "" || l.Kind == limits.Prefix && (strings.HasPrefix(l.Name, prefix) || strings.HasPrefix(prefix, l.Name)) {
			out.Body.Limits = append(out.Body.Limits, limitOfService(&l))
		}
	}
	return out, nil
}

// scope returns the scope of a request if its sender has a role for all its timers.
func (a *API) scope(ctx context.Context, role access.Role, in *LimitName) (s limits.Scope, err error) {
	who, err := a.may(ctx, role)
	if err != nil {
		return s, err
	}
	if s, err = limits.Parse(in.Kind, in.Name); err != nil {
		return s, bad(err)
	}
	if who.Prefix != "" && (s.Kind != limits.Prefix || !strings.HasPrefix(s.Name, who.Prefix)) {
		return s, errLimitRole
	}
	return s, nil
}

func (a *API) limit(ctx context.Context, in *LimitName) (*limitOutput, error) {
	s, err := a.scope(ctx, access.Read, in)
	if err != nil {
		return nil, err
	}
	l, ok := a.Service.Limit(ctx, s)
	if !ok {
		return nil, errNoLimit
	}
	return &limitOutput{limitOfService(&l)}, nil
}

func (a *API) changeLimit(ctx context.Context, in *LimitName) (*limitOutput, error) {
	s, err := a.scope(ctx, access.Admin, in)
	if err != nil {
		return nil, err
	}
	body, err := decodeBody[Limiting](ctx, settingLimit)
	if err != nil {
		return nil, err
	}
	if *body == (Limiting{}) {
		return nil, bad(errNoChange)
	}
	return a.change(ctx, s, body.apply)
}

// apply returns a limit after a change.
func (b *Limiting) apply(l limits.Limit) (limits.Limit, error) {
	if b.Paused != nil {
		l.Paused = *b.Paused
	}
	if b.Rate != nil {
		l.Rate = *b.Rate
	}
	if b.AtOnce != nil {
		l.AtOnce = *b.AtOnce
	}
	if err := l.Check(); err != nil {
		return l, bad(err)
	}
	return l, nil
}

// change changes a limit, and returns what it is then, also if it limits nothing any more.
func (a *API) change(ctx context.Context, s limits.Scope, f func(limits.Limit) (limits.Limit, error)) (*limitOutput, error) {
	if err := a.ready(); errors.Is(err, durable.ErrClosed) {
		return nil, failure(err)
	}
	l, err := a.Service.ChangeLimit(ctx, s, f)
	switch {
	case errors.Is(err, limits.ErrMost):
		return nil, errMost
	case err != nil:
		return nil, failure(err)
	}
	now, ok := a.Service.Limit(ctx, s)
	if !ok || now.Limit != l { // it was changed meanwhile, or this server has not heard of it yet
		now = service.Limited{Scope: s, Limit: l}
	}
	return &limitOutput{limitOfService(&now)}, nil
}

func (a *API) removeLimit(ctx context.Context, in *LimitName) (*limitOutput, error) {
	s, err := a.scope(ctx, access.Admin, in)
	if err != nil {
		return nil, err
	}
	return a.change(ctx, s, func(l limits.Limit) (limits.Limit, error) {
		if l.IsZero() {
			return l, errNoLimit
		}
		return limits.Limit{}, nil
	})
}
