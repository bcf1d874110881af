package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

const (
	maxTake = 10000
	maxWait = 10 * time.Minute
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
	Trace   string          `json:"traceparent,omitempty" doc:"The trace context of the attempt (W3C), if the timer was set with one"`
}

// Firings is the answer to a request to take firings.
type Firings struct {
	Firings []Firing `json:"firings" nullable:"false"`
}

// Taking is the body of a request to take firings.
type Taking struct {
	Max  *int   `json:"max,omitempty" minimum:"1" maximum:"10000" doc:"1 by default. Of large values fewer are taken, some 8 MiB at most"`
	Wait string `json:"wait,omitempty" doc:"For the first one, at most 10m, as Go writes durations; by default not at all" example:"20s"`
}

type takeInput struct {
	QueueName
	w http.ResponseWriter
}

// Resolve implements huma.Resolver.
func (in *takeInput) Resolve(ctx huma.Context) []error {
	_, in.w = humago.Unwrap(ctx)
	return nil
}

func (a *API) registerTake(api huma.API) {
	op := with[Taking](timer("POST", "take", "/v1/queues/{name}/take", "Take firings from a queue"))
	firings := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Firings](), true, "")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: firings}},
	}}
	huma.Register(api, op, a.take)
}

func (a *API) take(ctx context.Context, in *takeInput) (*huma.StreamResponse, error) {
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
	all := a.Service.TakeWithin(ctx, in.Name, n, wait, who.Prefix)
	if len(all) == 0 && ctx.Err() != nil {
		return nil, failure(ctx.Err())
	}
	return &huma.StreamResponse{Body: func(huma.Context) { a.handOut(ctx, in, all) }}, nil
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

// handOut sends firings to the worker that has taken them. If the worker is gone, or they can't be sent, it gives them
// back, and cuts the connection: the worker must not take a part of them for the whole.
func (a *API) handOut(ctx context.Context, in *takeInput, all []service.Taken) {
	c := callOf(ctx)
	c.pause()
	_ = c.control.SetWriteDeadline(time.Now().Add(answerTime))
	in.w.Header().Set("Content-Type", "application/json")
	err := ctx.Err()
	if err == nil {
		err = writeFirings(in.w, all)
	}
	if err == nil { // from here on the context says nothing: a worker may close the connection as soon as it has the JSON
		err = c.control.Flush()
	}
	if err != nil {
		a.Logger.Debug("epicycle: firings did not reach the worker that took them", "err", err)
		a.Service.GiveBack(in.Name, all)
		panic(http.ErrAbortHandler)
	}
}

// writeFirings writes the JSON of Firings in one line, a firing at a time.
func writeFirings(w io.Writer, all []service.Taken) error {
	out := bufio.NewWriterSize(w, partSize)
	var one bytes.Buffer
	enc := json.NewEncoder(&one)
	enc.SetEscapeHTML(false)
	_, _ = out.WriteString(`{"firings":[`) // Flush returns the error
	for i := range all {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		one.Reset()
		if err := enc.Encode(firingOf(&all[i])); err != nil {
			return err
		}
		_, _ = out.Write(bytes.TrimSuffix(one.Bytes(), []byte("\n")))
	}
	_, _ = out.WriteString("]}\n")
	return out.Flush()
}

func firingOf(t *service.Taken) Firing {
	f := Firing{Token: t.Token, Key: t.Key, Due: t.Due.UTC(), ID: t.ID, Attempt: t.Attempt, Timeout: t.Timeout.String(), Trace: t.Trace}
	f.Value, f.Text = embed(t.Value)
	return f
}
