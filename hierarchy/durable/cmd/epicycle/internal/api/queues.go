package api

import (
	"cmp"
	"context"
	"errors"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

const maxReason = 1 << 10

// QueueName is the name of a queue in the path of a request.
type QueueName struct {
	Name string `path:"name" maxLength:"250"`
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
	var worst error
	for i, err := range a.Service.End(ctx, in.Name, body.Tokens, result, who.Prefix) {
		if out.Body.Results[i].OK = err == nil; err != nil {
			out.Body.Results[i].Error = detailOf(err)
			worst = worse(worst, err)
		}
	}
	return out, unanswered(out.Body.Results, worst)
}
