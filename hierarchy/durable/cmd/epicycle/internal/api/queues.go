package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

const (
	maxTake   = 10000
	maxWait   = 10 * time.Minute
	maxReason = 1 << 10
)

// Firing is a firing that a worker has taken from a queue.
type Firing struct {
	Token   string          `json:"token" doc:"For done and fail"`
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value"`
	Text    string          `json:"value_text,omitempty" doc:"The value as text, if value is null because JSON can't have it: it is nested too deep"`
	Due     time.Time       `json:"due"`
	ID      string          `json:"id" doc:"The same at each attempt, and never that of another timer"`
	Attempt int             `json:"attempt" doc:"From 1"`
	Timeout string          `json:"timeout" doc:"After which the attempt has failed"`
}

// QueueName is the name of a queue in the path of a request.
type QueueName struct {
	Name string `path:"name" maxLength:"250"`
}

// Taking is the body of a request to take firings.
type Taking struct {
	Max  *int   `json:"max,omitempty" minimum:"1" maximum:"10000" doc:"1 by default"`
	Wait string `json:"wait,omitempty" doc:"For the first one, at most 10m, as Go writes durations; by default not at all" example:"20s"`
}

type takeInput struct{ QueueName }

type takeOutput struct {
	Body struct {
		Firings []Firing `json:"firings" nullable:"false"`
	}
}

func (a *API) take(ctx context.Context, in *takeInput) (*takeOutput, error) {
	who, err := a.may(ctx, access.Write)
	if err != nil {
		return nil, err
	}
	if err := task.CheckQueue(in.Name); err != nil {
		return nil, bad(err)
	}
	body, err := decodeBody[Taking](ctx, settingLimit)
	if err != nil {
		return nil, err
	}
	n, wait, err := body.parse()
	if err != nil {
		return nil, bad(err)
	}
	if c := callOf(ctx); !c.named {
		c.extend(wait + c.limit)
	}
	out := new(takeOutput)
	out.Body.Firings = []Firing{}
	for _, t := range a.Service.TakeWithin(ctx, in.Name, n, wait, who.Prefix) {
		out.Body.Firings = append(out.Body.Firings, firingOf(&t))
	}
	if len(out.Body.Firings) == 0 && ctx.Err() != nil {
		return nil, failure(ctx.Err())
	}
	return out, nil
}

func (t *Taking) parse() (n int, wait time.Duration, err error) {
	n = 1
	if t.Max != nil {
		n = *t.Max
	}
	if t.Wait != "" {
		wait, err = time.ParseDuration(t.Wait)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("wait: %.40q is not a duration such as 20s", t.Wait)
	case wait < 0 || wait > maxWait:
		err = fmt.Errorf("wait: %v is not between 0s and %v", wait, maxWait)
	case n < 1 || n > maxTake:
		err = fmt.Errorf("max: %d is not between 1 and %d", n, maxTake)
	}
	return n, wait, err
}

func firingOf(t *service.Taken) Firing {
	f := Firing{Token: t.Token, Key: t.Key, Due: t.Due.UTC(), ID: t.ID, Attempt: t.Attempt, Timeout: t.Timeout.String()}
	f.Value, f.Text = embed(t.Value)
	return f
}

// Ending is the body of a request that ends attempts.
type Ending struct {
	Tokens []string `json:"tokens" maxItems:"10000" nullable:"false"`
	Error  string   `json:"error,omitempty" doc:"For fail: why they have failed. Its first 1,024 bytes are kept"`
}

type endInput struct{ QueueName }

type endOutput struct {
	Body struct {
		Results []Result `json:"results" nullable:"false"`
	}
}

func (a *API) done(ctx context.Context, in *endInput) (*endOutput, error) {
	return a.end(ctx, in, false)
}
func (a *API) fail(ctx context.Context, in *endInput) (*endOutput, error) {
	return a.end(ctx, in, true)
}

var errDone = errors.New("error: is for fail")

// result returns the result of the attempts.
func (e *Ending) result(failed bool) (result, err error) {
	switch {
	case failed:
		return errors.New(shorten(cmp.Or(e.Error, "the worker has failed"), maxReason)), nil
	case e.Error != "":
		return nil, errDone
	}
	return nil, nil
}

func (a *API) end(ctx context.Context, in *endInput, failed bool) (*endOutput, error) {
	who, err := a.may(ctx, access.Write)
	if err != nil {
		return nil, err
	}
	body, err := decodeBody[Ending](ctx, tokensLimit)
	if err != nil {
		return nil, err
	}
	result, err := body.result(failed)
	if err != nil {
		return nil, bad(err)
	}
	out := new(endOutput)
	out.Body.Results = make([]Result, len(body.Tokens))
	var last error
	for i, err := range a.Service.End(ctx, in.Name, body.Tokens, result, who.Prefix) {
		if out.Body.Results[i].OK = err == nil; err != nil {
			out.Body.Results[i].Error = detailOf(err)
			last = err
		}
	}
	return out, unanswered(out.Body.Results, last)
}
