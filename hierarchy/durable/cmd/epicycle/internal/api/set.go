package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

type setInput struct {
	Keyed
	Trace string `header:"traceparent" doc:"The trace context of the caller (W3C): attempts are in its trace, each in a span of its own"`
	If    string `query:"if" enum:"absent,sooner,later" doc:"Only if there is none, or if it is due sooner or later than the one that is there"`
}

func (a *API) set(ctx context.Context, in *setInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Write, in.Key); err != nil {
		return nil, err
	}
	body, err := decodeBody[Setting](ctx, settingLimit)
	if err != nil {
		return nil, err
	}
	s, err := a.setting(in.Key, body, in.If)
	if err != nil {
		return nil, err
	}
	defer a.Service.Changing(in.Key)()
	e, took, err := a.apply(ctx, &s)
	a.tell(service.EventSet, &e, took && err == nil)
	if err != nil {
		return nil, failure(err)
	}
	if !took {
		return nil, notMet(in.If, &e)
	}
	return &timerOutput{timerOf(&e, true)}, nil
}

// setting is a parsed request to set a timer.
type setting struct {
	key  string
	task task.Task
	due  due
	cond string

	schedule durable.Schedule
}

var (
	errCondition = errors.New("if must be absent, sooner or later")
	errSubjects  = errors.New("to: subjects need a server with -nats")
	errRuns      = errors.New("if does not go with a schedule, nor with debounce")
)

func (s *setting) checkCondition() error {
	switch {
	case s.cond != "" && s.cond != "absent" && s.cond != "sooner" && s.cond != "later":
		return errCondition
	case s.cond != "" && (s.due.schedule != "" || s.due.debounce != nil):
		return errRuns
	}
	return nil
}

func (a *API) setting(key string, in *Setting, cond string) (s setting, err error) {
	s.key, s.cond = key, cond
	if s.due, err = in.When.parse(); err == nil {
		s.task, err = in.task()
	}
	if err == nil {
		err = errors.Join(a.maySubject(s.task.To), a.hasSecret(&s.task.Hook))
	}
	if err == nil && s.due.schedule != "" {
		s.schedule, err = s.due.runs.of(s.due.schedule, key)
	}
	if err == nil {
		err = s.checkCondition()
	}
	var p *Problem
	if err != nil && !errors.As(err, &p) {
		err = bad(err)
	}
	return s, err
}

// maySubject returns an error if the target is a subject and the server does not allow that.
func (a *API) maySubject(to task.Target) error {
	if to.Kind == task.Subject && !a.Subjects {
		return errSubjects
	}
	return nil
}

// apply sets a timer, and returns it. If its condition was not met, apply returns the timer that is there, and false.
func (a *API) apply(ctx context.Context, s *setting) (service.Entry, bool, error) {
	at := !s.due.at.IsZero()
	switch {
	case s.cond == "absent" && at:
		return a.Service.SetAtIfAbsent(ctx, s.key, s.task, s.due.at)
	case s.cond == "absent":
		return a.Service.SetIfAbsent(ctx, s.key, s.task, s.due.in)
	case s.cond == "sooner" && at:
		return a.Service.SetAtSooner(ctx, s.key, s.task, s.due.at)
	case s.cond == "sooner":
		return a.Service.SetSooner(ctx, s.key, s.task, s.due.in)
	case s.cond == "later" && at:
		return a.Service.SetAtLater(ctx, s.key, s.task, s.due.at)
	case s.cond == "later":
		return a.Service.SetLater(ctx, s.key, s.task, s.due.in)
	}
	e, err := a.applyAlways(ctx, s)
	return e, true, err
}

func (a *API) applyAlways(ctx context.Context, s *setting) (service.Entry, error) {
	switch {
	case s.due.schedule != "":
		return a.Service.SetSchedule(ctx, s.key, s.task, s.schedule)
	case !s.due.at.IsZero():
		return a.Service.SetAt(ctx, s.key, s.task, s.due.at)
	case s.due.debounce != nil:
		return a.Service.SetDebounced(ctx, s.key, s.task, s.due.debounce.quiet, s.due.debounce.longest)
	}
	return a.Service.Set(ctx, s.key, s.task, s.due.in)
}

// notMet returns the answer to a request whose condition was not met, with the timer that is there.
func notMet(cond string, e *service.Entry) *Problem {
	p := problem(http.StatusConflict, map[string]string{
		"absent": "there is a timer with this key",
		"sooner": "the timer that is there is not due later",
		"later":  "the timer that is there is not due sooner",
	}[cond])
	t := timerOf(e, true) // whoever may set it may see all of it
	p.Timer = &t
	return p
}
