package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

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
	Due     time.Time       `json:"due"`
	ID      string          `json:"id" doc:"The same at each attempt, and never that of another timer"`
	Attempt int             `json:"attempt" doc:"From 1"`
	Timeout string          `json:"timeout" doc:"After which the attempt has failed"`
}

// answerTime is how long the answer to a request that has waited may take.
const answerTime = time.Minute

// controlKey is the key of the context's value with the ResponseController of a request.
type controlKey struct{}

// withControl is middleware for requests that wait for longer than others: they set the deadline of their answers.
func withControl(ctx huma.Context, next func(huma.Context)) {
	_, w := humago.Unwrap(ctx)
	next(huma.WithValue(ctx, controlKey{}, http.NewResponseController(w)))
}

// QueueName is the name of a queue in the path of a request.
type QueueName struct {
	Name string `path:"name" maxLength:"250"`
}

type takeInput struct {
	QueueName
	Body struct {
		Max  *int   `json:"max,omitempty" minimum:"1" maximum:"10000" doc:"1 by default"`
		Wait string `json:"wait,omitempty" doc:"For the first one, at most 10m, as Go writes durations; by default not at all" example:"20s"`
	}
}

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
	n, wait := 1, time.Duration(0)
	if in.Body.Max != nil {
		n = *in.Body.Max
	}
	if in.Body.Wait != "" {
		wait, err = time.ParseDuration(in.Body.Wait)
	}
	switch {
	case err != nil:
		return nil, bad(fmt.Errorf("wait: %.40q is not a duration such as 20s", in.Body.Wait))
	case wait < 0 || wait > maxWait:
		return nil, bad(fmt.Errorf("wait: %v is not between 0s and %v", wait, maxWait))
	case n < 1 || n > maxTake:
		return nil, bad(fmt.Errorf("max: %d is not between 1 and %d", n, maxTake))
	}
	if control, ok := ctx.Value(controlKey{}).(*http.ResponseController); ok {
		_ = control.SetWriteDeadline(time.Now().Add(wait + answerTime))
	}
	out := new(takeOutput)
	out.Body.Firings = []Firing{}
	for _, t := range a.Service.TakeWithin(ctx, in.Name, n, wait, who.Prefix) {
		out.Body.Firings = append(out.Body.Firings, firingOf(&t))
	}
	return out, nil
}

func firingOf(t *service.Taken) Firing {
	return Firing{
		Token: t.Token, Key: t.Key, Value: t.Value, Due: t.Due.UTC(), ID: t.ID, Attempt: t.Attempt, Timeout: t.Timeout.String(),
	}
}

type endInput struct {
	QueueName
	Body struct {
		Tokens []string `json:"tokens" maxItems:"10000"`
		Error  string   `json:"error,omitempty" doc:"Why they have failed"`
	}
}

type endOutput struct {
	Body struct {
		Results []Result `json:"results" nullable:"false"`
	}
}

func (a *API) done(ctx context.Context, in *endInput) (*endOutput, error) {
	if in.Body.Error != "" {
		return nil, bad(errors.New("error: is for fail"))
	}
	return a.end(ctx, in, nil)
}

func (a *API) fail(ctx context.Context, in *endInput) (*endOutput, error) {
	text := in.Body.Error
	if text == "" {
		text = "the worker has failed"
	}
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") // without the part of a character
	}
	return a.end(ctx, in, errors.New(text))
}

func (a *API) end(ctx context.Context, in *endInput, result error) (*endOutput, error) {
	who, err := a.may(ctx, access.Write)
	if err != nil {
		return nil, err
	}
	if n := len(in.Body.Tokens); n > maxTake {
		return nil, bad(fmt.Errorf("%d tokens, of at most %d", n, maxTake))
	}
	out := new(endOutput)
	out.Body.Results = make([]Result, len(in.Body.Tokens))
	for i, err := range a.Service.End(ctx, in.Name, in.Body.Tokens, result, who.Prefix) {
		if out.Body.Results[i].OK = err == nil; err != nil {
			out.Body.Results[i].Error = err.Error()
		}
	}
	return out, nil
}
