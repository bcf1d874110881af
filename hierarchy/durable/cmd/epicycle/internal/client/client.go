// Package client is the client that the commands use: that of hierarchy/durable/clients/go, with the types of package api,
// which the commands print.
package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
)

// Client sends requests to a server. Each is sent once: who calls a command sees at once what is wrong.
type Client struct{ client *epicycle.Client }

// New returns a client of the server at an address or URL. token may be empty, and config nil. conns is the number of idle
// connections that are kept.
func New(server, token string, conns int, config *tls.Config) (*Client, error) {
	if server == "" {
		return nil, errors.New("the URL of the server is empty")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = conns
	transport.MaxIdleConns = conns
	transport.TLSClientConfig = config
	c, err := epicycle.New(server, epicycle.Options{
		Token: token, HTTP: &http.Client{Transport: transport}, Attempts: 1, Timeout: longest,
	})
	return &Client{c}, err
}

// longest is longer than the server takes for anything, but for exports and imports.
const longest = 11 * time.Minute

// Path returns the path of a timer.
func Path(key string) string { return epicycle.Path(key) }

// Do sends a request and decodes the answer. If in is not nil, it is the body of the request. If out is not nil, the
// answer is decoded into it. If the answer is an error, Do returns it as an *api.Problem.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	return problem(c.client.Do(ctx, method, path, in, out))
}

// Open sends a request, and returns the answer, whose body the caller has to close. If the answer is an error, Open
// returns it as an *api.Problem.
func (c *Client) Open(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	resp, err := c.client.Open(ctx, method, path, body)
	return resp, problem(err)
}

// problem returns an error with all that the server has said as an *api.Problem.
func problem(err error) error {
	e, ok := errors.AsType[*epicycle.Error](err)
	if !ok {
		return err
	}
	p := &api.Problem{Status: e.Status, Detail: e.Detail}
	if e.Body != nil && json.Unmarshal(e.Body, p) != nil {
		return err
	}
	return p
}

// Events iterates over what happens to timers whose keys have a prefix.
func (c *Client) Events(ctx context.Context, prefix string) iter.Seq2[epicycle.Event, error] {
	return func(yield func(epicycle.Event, error) bool) {
		for e, err := range c.client.Events(ctx, prefix) {
			if !yield(e, problem(err)) {
				return
			}
		}
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.client.Close() }

// Take takes up to n firings from a queue, and waits for the first one.
func (c *Client) Take(ctx context.Context, queue string, n int, wait time.Duration) ([]epicycle.Firing, error) {
	all, err := c.client.Take(ctx, queue, n, wait)
	return all, problem(err)
}

// Done ends firings that were taken.
func (c *Client) Done(ctx context.Context, queue string, tokens ...string) ([]epicycle.Result, error) {
	results, err := c.client.Done(ctx, queue, tokens...)
	return results, problem(err)
}

// Fail has firings that were taken retried.
func (c *Client) Fail(ctx context.Context, queue, reason string, tokens ...string) ([]epicycle.Result, error) {
	results, err := c.client.Fail(ctx, queue, reason, tokens...)
	return results, problem(err)
}

// List calls f with timers, in order of their keys, page by page, until it has passed limit timers to f. If limit is 0,
// it passes all timers.
func (c *Client) List(ctx context.Context, prefix, state string, limit int, f func([]api.Timer) error) error {
	q := epicycle.Query{Prefix: prefix, State: state}
	for n := 0; ; {
		q.Limit = maxPage
		if limit > 0 {
			q.Limit = min(q.Limit, limit-n)
		}
		var page api.Page
		if err := c.Do(ctx, http.MethodGet, q.Path(), nil, &page); err != nil {
			return err
		}
		if err := f(page.Timers); err != nil {
			return err
		}
		n += len(page.Timers)
		if q.After = page.Next; q.After == "" || n == limit {
			return nil
		}
	}
}

const maxPage = 1000

// RemoveAll removes all timers whose keys have a prefix, or with an empty prefix all timers. That may take several
// requests: after each, it calls f with the number of timers that were removed so far.
func (c *Client) RemoveAll(ctx context.Context, prefix string, f func(removed int)) (removed int, err error) {
	removed, err = c.client.RemoveAll(ctx, prefix, f)
	return removed, problem(err)
}
