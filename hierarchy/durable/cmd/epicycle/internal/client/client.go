// Package client is a client of a server.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
)

// Client sends requests to a server.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New returns a client of the server at an address or URL. token may be empty, and config nil. conns is the number of idle
// connections that are kept.
func New(server, token string, conns int, config *tls.Config) (*Client, error) {
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no URL of a server, such as http://127.0.0.1:8421", server)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = conns
	transport.MaxIdleConns = conns
	transport.TLSClientConfig = config
	return &Client{strings.TrimSuffix(u.String(), "/"), token, &http.Client{Transport: transport}}, nil
}

// Path returns the path of a timer.
func Path(key string) string { return "/v1/timers/" + escape(key) }

// escape is url.PathEscape, but it also escapes "." and "..", which would otherwise be taken for steps in a path.
func escape(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// QueuePath returns the path of a queue.
func QueuePath(name, what string) string { return "/v1/queues/" + escape(name) + "/" + what }

// Do sends a request and decodes the answer. If in is not nil, it is the body of the request. If out is not nil, the
// answer is decoded into it. If the answer is an error, Do returns it as an *api.Problem.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	resp, err := c.Open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// Open sends a request, and returns the answer, whose body the caller has to close. If the answer is an error, Open
// returns it as an *api.Problem.
func (c *Client) Open(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, bare(err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

// bare removes the method and the URL from an error.
func bare(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}

// maxProblem is the largest number of bytes that are read of an answer with an error.
const maxProblem = 1 << 20

func problem(resp *http.Response) error {
	p := new(api.Problem)
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if json.Unmarshal(b, p) != nil || p.Status == 0 {
		p = &api.Problem{Status: resp.StatusCode, Detail: "the server answered " + resp.Status}
	}
	return p
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// List calls f with timers, in order of their keys, page by page, until it has passed limit timers to f. If limit is 0,
// it passes all timers.
func (c *Client) List(ctx context.Context, prefix, state string, limit int, f func([]api.Timer) error) error {
	q := url.Values{"prefix": {prefix}, "state": {state}}
	for n := 0; ; {
		size := maxPage
		if limit > 0 {
			size = min(size, limit-n)
		}
		q.Set("limit", fmt.Sprint(size))
		var page api.Page
		if err := c.Do(ctx, http.MethodGet, "/v1/timers?"+q.Encode(), nil, &page); err != nil {
			return err
		}
		if err := f(page.Timers); err != nil {
			return err
		}
		n += len(page.Timers)
		if page.Next == "" || n == limit {
			return nil
		}
		q.Set("after", page.Next)
	}
}

const maxPage = 1000

// RemoveAll removes all timers whose keys have a prefix, or with an empty prefix all timers. That may take several
// requests: after each, it calls f with the number of timers that were removed so far.
func (c *Client) RemoveAll(ctx context.Context, prefix string, f func(removed int)) (removed int, err error) {
	q := url.Values{"prefix": {prefix}}
	if prefix == "" {
		q = url.Values{"all": {"true"}}
	}
	for more := true; more; {
		var some api.Removed
		if err := c.Do(ctx, http.MethodDelete, "/v1/timers?"+q.Encode(), nil, &some); err != nil {
			return removed, err
		}
		more = some.More
		removed += some.Removed
		f(removed)
	}
	return removed, nil
}
