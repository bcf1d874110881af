package epicycle

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Firing is a firing that was taken from a queue.
type Firing struct {
	Token     string          `json:"token"` // for Done and Fail
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	ValueText string          `json:"value_text,omitempty"` // the value, if it can't be in JSON
	Due       time.Time       `json:"due"`
	ID        string          `json:"id"`      // the same at each attempt, and never that of another timer
	Attempt   int             `json:"attempt"` // from 1
	Timeout   Duration        `json:"timeout"` // after which the attempt has failed
	// Traceparent is the trace context of the attempt (W3C), if the timer was set with one.
	Traceparent string `json:"traceparent,omitempty"`
}

// Decode decodes the value of the firing.
func (f *Firing) Decode(v any) error { return json.Unmarshal(f.Value, v) }

// Take takes up to n firings from a queue. If there is none, it waits for the first one. Work is a loop around it.
func (c *Client) Take(ctx context.Context, queue string, n int, wait time.Duration) ([]Firing, error) {
	in := map[string]any{"max": n, "wait": wait.String()}
	var out struct{ Firings []Firing }
	err := c.send(ctx, request{
		method: http.MethodPost, path: QueuePath(queue, "take"), in: in, out: &out, again: true, wait: wait,
	})
	return out.Firings, err
}

// Done ends firings that were taken. A result that is not OK is of a firing whose attempt has timed out.
func (c *Client) Done(ctx context.Context, queue string, tokens ...string) ([]Result, error) {
	return c.end(ctx, queue, "done", map[string]any{"tokens": tokens}, len(tokens))
}

// Fail has firings that were taken retried. The reason is the last_error of their timers.
func (c *Client) Fail(ctx context.Context, queue, reason string, tokens ...string) ([]Result, error) {
	return c.end(ctx, queue, "fail", map[string]any{"tokens": tokens, "error": reason}, len(tokens))
}

func (c *Client) end(ctx context.Context, queue, how string, in any, n int) ([]Result, error) {
	return c.results(ctx, request{method: http.MethodPost, path: QueuePath(queue, how), in: in, again: true}, n)
}
