package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

var (
	errNoTimer  = problem(http.StatusNotFound, "there is no timer with this key")
	errNoneDead = problem(http.StatusNotFound, "there is no dead timer with this key")
	errSubjects = errors.New("to: subjects need a server with -nats")
)

func timerOf(e *service.Entry) Timer {
	t := Timer{
		Key: e.Key, Value: e.Value.Value, To: targetOf(e.Value.To), Timeout: e.Value.Timeout.String(),
		Due: e.Due.UTC(), Attempt: e.Attempt, State: e.State.String(),
		Schedule: e.Schedule.String(), Error: e.LastError,
	}
	if e.ID != (durable.ID{}) {
		t.ID = e.ID.String()
	}
	return t
}

type setInput struct {
	Keyed
	If   string `query:"if" enum:"absent,sooner,later" doc:"Only if there is none, or if it is due sooner or later than the one that is there"`
	Body Setting
}

func (a *API) set(ctx context.Context, in *setInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Write, in.Key); err != nil {
		return nil, err
	}
	s, err := a.setting(in.Key, &in.Body, in.If)
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

// setting is a timer that is to be set, as it was read.
type setting struct {
	key  string
	task task.Task
	due  due
	cond string

	schedule durable.Schedule
}

var (
	errCondition = errors.New("if must be absent, sooner or later")
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

// maySubject returns an error if the target is a subject, and the server has none.
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

// notMet is the answer if a condition was not met, with the timer that is there, if it is there still.
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

type moveInput struct {
	Keyed
	Body Moving
}

func (a *API) move(ctx context.Context, in *moveInput) (*timerOutput, error) {
	if err := a.mayKey(ctx, access.Write, in.Key); err != nil {
		return nil, err
	}
	due, err := in.Body.parse()
	if err != nil {
		return nil, bad(err)
	}
	d := due.from(time.Now())
	return a.change(ctx, in.Key, d, errNoTimer, func() (bool, error) { return a.Service.Move(ctx, in.Key, d) })
}

// change does something with the timer of a key after which it is due in some time, and answers with the timer.
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

type listInput struct {
	Prefix string `query:"prefix" doc:"Of the keys"`
	State  string `query:"state" enum:"waiting,running,dead"`
	Limit  int    `query:"limit" default:"100" minimum:"1" maximum:"1000"`
	After  string `query:"after" doc:"The next of the page before"`
}

type listOutput struct {
	Body struct {
		Timers []Timer `json:"timers" nullable:"false"`
		Next   string  `json:"next,omitempty" doc:"The after of the next page; absent at the end"`
	}
}

func (a *API) list(ctx context.Context, in *listInput) (*listOutput, error) {
	prefix, err := a.mayPrefix(ctx, access.Read, in.Prefix)
	if err != nil {
		return nil, err
	}
	q := durable.Query{Prefix: prefix, After: in.After, Limit: in.Limit + 1}
	for _, state := range []durable.State{durable.StateWaiting, durable.StateRunning, durable.StateDead} {
		if in.State == state.String() {
			q.States = append(q.States, state)
		}
	}
	entries, err := a.Service.List(ctx, q)
	if err != nil {
		return nil, failure(err)
	}
	out := new(listOutput)
	if len(entries) > in.Limit {
		entries = entries[:in.Limit]
		out.Body.Next = entries[in.Limit-1].Key
	}
	out.Body.Timers = make([]Timer, len(entries))
	for i := range entries {
		out.Body.Timers[i] = timerOf(&entries[i])
	}
	return out, nil
}

type removeAllInput struct {
	Prefix string `query:"prefix" doc:"Of the keys. It must not be empty, unless all is true"`
	All    bool   `query:"all"`
}

type removeAllOutput struct {
	Body struct {
		Removed int `json:"removed"`
	}
}

// removeSome is how many timers are removed with one batch.
const removeSome = 1000

func (a *API) removeAll(ctx context.Context, in *removeAllInput) (*removeAllOutput, error) {
	role := access.Write
	if in.Prefix == "" {
		if role = access.Admin; !in.All {
			return nil, bad(errors.New("prefix is empty, and all is not true"))
		}
	}
	prefix, err := a.mayPrefix(ctx, role, in.Prefix)
	if err != nil {
		return nil, err
	}
	out := new(removeAllOutput)
	err = a.Service.Each(ctx, prefix, func(some []service.Entry) error {
		for part := range slices.Chunk(some, removeSome) {
			var b durable.Batch[string, task.Task]
			for i := range part {
				b.Remove(part[i].Key)
			}
			if err := a.Service.Batch(ctx, &b); err != nil {
				return err
			}
			for i := range part {
				if b.Took(i) {
					out.Body.Removed++
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, failure(err)
	}
	return out, nil
}
