package epicycle

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Batch collects operations that are sent in one request. It is not safe for concurrent use.
type Batch struct {
	ops     []body
	fragile bool // it may not be repeated
}

// Put sets a timer.
func (b *Batch) Put(key string, s Setting) {
	op := s.body()
	op.If = s.If
	b.add("set", key, op, s.If != "")
}

// Set sets a timer that is due after a time.
func (b *Batch) Set(key string, value any, d time.Duration, to Target) {
	b.Put(key, Setting{Value: value, In: d, To: to})
}

// SetAt sets a timer that is due at a time.
func (b *Batch) SetAt(key string, value any, at time.Time, to Target) {
	b.Put(key, Setting{Value: value, At: at, To: to})
}

// Move moves a timer, so that it is due after a time from now.
func (b *Batch) Move(key string, d time.Duration) {
	var op body
	op.setTime(d, time.Time{})
	b.add("move", key, op, false)
}

// MoveAt moves a timer to a time.
func (b *Batch) MoveAt(key string, at time.Time) {
	var op body
	op.setTime(0, at)
	b.add("move", key, op, false)
}

// Remove removes a timer.
func (b *Batch) Remove(key string) { b.add("remove", key, body{}, true) }

func (b *Batch) add(what, key string, op body, fragile bool) {
	op.Op, op.Key = what, key
	b.ops = append(b.ops, op)
	b.fragile = b.fragile || fragile
}

// Len returns the number of operations.
func (b *Batch) Len() int { return len(b.ops) }

// Result is the result of an operation. If it is not OK, Error says why: there is no timer, the condition is not met, or
// the operation has failed.
type Result struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// Batch does the operations of a batch, at most 10,000, and returns their results in their order. The batch is repeated
// only if that gives the same results: with operations that remove timers or have conditions it is not, if it is unknown
// whether it has taken hold.
func (c *Client) Batch(ctx context.Context, b *Batch) ([]Result, error) {
	if len(b.ops) == 0 {
		return nil, nil
	}
	in := map[string][]body{"operations": b.ops}
	return c.results(ctx, request{method: http.MethodPost, path: "/v1/batch", in: in, again: !b.fragile}, len(b.ops))
}

// results sends a request whose answer has n results.
func (c *Client) results(ctx context.Context, r request, n int) ([]Result, error) {
	var out struct{ Results []Result }
	r.out = &out
	if err := c.send(ctx, r); err != nil {
		return nil, err
	}
	if len(out.Results) != n {
		return nil, fmt.Errorf("the server answered with %d results for %d", len(out.Results), n)
	}
	return out.Results, nil
}
