package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

const (
	maxOperations = 10000
	// someOperations and someBytes limit one durable.Batch, so that no partition's part is too large for a message of the
	// servers, which is 1 MiB by default.
	someOperations = 2000
	someBytes      = 512 << 10
	// operationBytes is about what an operation takes besides its texts.
	operationBytes = 64
)

// Operation is one operation of a batch.
type Operation struct {
	Op  string `json:"op" enum:"set,move,remove"`
	Key string `json:"key"`
	If  string `json:"if,omitempty" enum:"absent,sooner,later"`
	Setting
}

// Result tells whether an operation was done.
type Result struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// TransformSchema implements huma.SchemaTransformer: only a timer that is set needs a target.
func (Operation) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == "to" })
	return s
}

// Batch is the body of a request for many operations.
type Batch struct {
	Operations []Operation `json:"operations" maxItems:"10000" nullable:"false"`
}

// decodeFrom decodes one operation after the other, so that the decoder keeps only one of them in memory.
func (b *Batch) decodeFrom(d *json.Decoder) error {
	if err := expect(d, json.Delim('{'), "operations", json.Delim('[')); err != nil {
		return err
	}
	for d.More() {
		var op Operation
		if err := d.Decode(&op); err != nil {
			return err
		}
		b.Operations = append(b.Operations, op)
	}
	return expect(d, json.Delim(']'), json.Delim('}'))
}

var errBatch = errors.New(`the body must be {"operations":[…]}`)

// expect reads tokens that must come next.
func expect(d *json.Decoder, tokens ...json.Token) error {
	for _, want := range tokens {
		got, err := d.Token()
		if err != nil {
			return err
		}
		if got != want {
			return errBatch
		}
	}
	return nil
}

type batchOutput struct {
	Body struct {
		Results []Result `json:"results" nullable:"false"`
	}
}

func (a *API) batch(ctx context.Context, _ *struct{}) (*batchOutput, error) {
	who, err := a.may(ctx, access.Write)
	if err != nil {
		return nil, err
	}
	in, err := decodeBody[Batch](ctx, batchLimit)
	if err != nil {
		return nil, err
	}
	out := new(batchOutput)
	out.Body.Results = make([]Result, len(in.Operations))
	c := chunk{api: a, ctx: ctx, who: who, results: out.Body.Results}
	for i := range in.Operations {
		c.add(i, &in.Operations[i])
	}
	c.flush()
	return out, unanswered(out.Body.Results, c.err)
}

// unanswered returns an error if the timers did not answer, because of err, and no operation is known to be done. If some
// are, the results tell which.
func unanswered(results []Result, err error) error {
	if err == nil || slices.ContainsFunc(results, func(r Result) bool { return r.OK }) {
		return nil
	}
	if p := failure(err); p.Status == http.StatusServiceUnavailable {
		return p
	}
	return nil
}

// worse returns the error that decides about an answer. An error after which it is unknown whether operations were done
// stays, whatever other operations were refused for.
func worse(before, err error) error {
	if err == nil || before != nil && failure(before).Status == http.StatusServiceUnavailable {
		return before
	}
	return err
}
