package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

type setInput struct {
	Keyed
	If string `query:"if" enum:"absent,sooner,later" doc:"Only if there is none, or if it is due sooner or later than the one that is there"`
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
	soon := a.soon(in.Key, s.due.from(time.Now()))
	defer soon.stop()
	took, err := a.apply(ctx, &s)
	if err != nil {
		return nil, failure(err)
	}
	e, ok, err := a.Service.Lookup(ctx, in.Key)
	if err != nil {
		return nil, failure(err)
	}
	if !took {
		return nil, notMet(in.If, &e, ok)
	}
	if !ok {
		e = soon.ended(service.Entry{Key: in.Key, Value: s.task, Due: time.Now().Add(s.due.from(time.Now()))})
	}
	return &timerOutput{timerOf(&e)}, nil
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
	errRuns      = errors.New("if does not go with a schedule")
)

func (s *setting) checkCondition() error {
	switch {
	case s.cond != "" && s.cond != "absent" && s.cond != "sooner" && s.cond != "later":
		return errCondition
	case s.cond != "" && s.due.schedule != "":
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
		err = a.maySubject(s.task.To)
	}
	if err == nil && s.due.schedule != "" {
		s.schedule, err = durable.ParseSchedule(s.due.schedule)
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

// apply sets a timer, and reports whether its condition was met.
func (a *API) apply(ctx context.Context, s *setting) (bool, error) {
	in := s.due.from(time.Now())
	switch {
	case s.cond == "absent":
		return a.Service.SetIfAbsent(ctx, s.key, s.task, in)
	case s.cond == "sooner":
		return a.Service.SetSooner(ctx, s.key, s.task, in)
	case s.cond == "later":
		return a.Service.SetLater(ctx, s.key, s.task, in)
	case s.due.schedule != "":
		return true, a.Service.SetSchedule(ctx, s.key, s.task, s.schedule)
	case s.due.at.IsZero():
		return true, a.Service.Set(ctx, s.key, s.task, in)
	}
	return true, a.Service.SetAt(ctx, s.key, s.task, s.due.at)
}

// notMet returns the answer to a request whose condition was not met, with the present timer, if it still exists.
func notMet(cond string, e *service.Entry, there bool) *Problem {
	p := problem(http.StatusConflict, map[string]string{
		"absent": "there is a timer with this key",
		"sooner": "the timer that is there is not due later",
		"later":  "the timer that is there is not due sooner",
	}[cond])
	if there {
		t := timerOf(e)
		p.Timer = &t
	}
	return p
}
