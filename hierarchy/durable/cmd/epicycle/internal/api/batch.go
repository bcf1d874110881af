package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
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

// chunk is a list of operations that are done together.
type chunk struct {
	api     *API
	ctx     context.Context
	who     *access.Bearer
	results []Result
	batch   durable.Batch[string, task.Task]
	places  []int
	// conditional tells for each operation whether it sets a timer. If such an operation was not done, its condition
	// was not met.
	conditional []bool
	size        int
	err         error // the worst of operations that were not done together
}

func (c *chunk) add(i int, op *Operation) {
	size := op.size()
	if c.batch.Len() >= someOperations || c.size+size > someBytes {
		c.flush()
	}
	if err := c.addTo(op); err != nil {
		c.results[i].Error = detailOf(err)
		return
	}
	c.places = append(c.places, i)
	c.conditional = append(c.conditional, op.Op == "set")
	c.size += size
}

// size returns about how many bytes an operation takes.
func (op *Operation) size() int {
	n := operationBytes + len(op.Key) + len(op.Value) + len(op.Schedule)
	if op.To != nil {
		n += len(op.To.Webhook) + len(op.To.Subject) + len(op.To.Queue)
	}
	return n
}

var errOp = errors.New("op must be set, move or remove")

func (c *chunk) addTo(op *Operation) error {
	if err := task.CheckKey(op.Key); err != nil {
		return err
	}
	if !c.who.MayKey(op.Key) {
		return errPrefix
	}
	switch op.Op {
	case "set":
		s, err := c.api.setting(op.Key, &op.Setting, op.If)
		if err != nil {
			return err
		}
		c.set(&s)
	case "move":
		m := Moving{In: op.In, At: op.At}
		due, err := m.parse()
		if err != nil {
			return err
		}
		c.move(op.Key, &due)
	case "remove":
		c.batch.Remove(op.Key)
	default:
		return errOp
	}
	return nil
}

func (c *chunk) set(s *setting) {
	at := !s.due.at.IsZero()
	switch {
	case s.cond == "absent" && at:
		c.batch.SetAtIfAbsent(s.key, s.task, s.due.at)
	case s.cond == "absent":
		c.batch.SetIfAbsent(s.key, s.task, s.due.in)
	case s.cond == "sooner" && at:
		c.batch.SetAtSooner(s.key, s.task, s.due.at)
	case s.cond == "sooner":
		c.batch.SetSooner(s.key, s.task, s.due.in)
	case s.cond == "later" && at:
		c.batch.SetAtLater(s.key, s.task, s.due.at)
	case s.cond == "later":
		c.batch.SetLater(s.key, s.task, s.due.in)
	case s.due.schedule != "":
		c.batch.SetSchedule(s.key, s.task, s.schedule)
	case at:
		c.batch.SetAt(s.key, s.task, s.due.at)
	default:
		c.batch.Set(s.key, s.task, s.due.in)
	}
}

func (c *chunk) move(key string, d *due) {
	if d.at.IsZero() {
		c.batch.Move(key, d.in)
		return
	}
	c.batch.MoveAt(key, d.at)
}

// flush does the operations of the chunk.
func (c *chunk) flush() {
	if c.batch.Len() == 0 {
		return
	}
	c.err = worse(c.err, c.api.Service.Batch(c.ctx, &c.batch))
	for i, place := range c.places {
		r := &c.results[place]
		switch {
		case c.batch.Took(i):
			r.OK = true
		case c.batch.Err(i) != nil:
			r.Error = detailOf(c.batch.Err(i))
		case c.conditional[i]:
			r.Error = "the condition is not met"
		default:
			r.Error = errNoTimer.Detail
		}
	}
	c.batch.Reset()
	c.places, c.conditional, c.size = c.places[:0], c.conditional[:0], 0
}
