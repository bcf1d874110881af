package epicycle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Client sends requests to a server. It is safe for concurrent use.
type Client struct {
	base     string
	token    string
	http     *http.Client
	timeout  time.Duration
	attempts int
}

// Options are what a Client need not be told.
type Options struct {
	Token string
	// HTTP sends the requests. By default it is a client of its own, which keeps up to 100 idle connections.
	HTTP *http.Client
	// Timeout limits each attempt to send a request, besides the wait of Take; 30 seconds by default.
	Timeout time.Duration
	// Attempts is how often a request is sent that may be repeated; 5 by default.
	Attempts int
}

const (
	defaultServer   = "http://127.0.0.1:8421"
	defaultTimeout  = 30 * time.Second
	defaultAttempts = 5
	idleConnections = 100
)

// New returns a client of the server at an address or URL. If server is empty, it is $EPICYCLE_SERVER, with the token
// $EPICYCLE_TOKEN unless there is one in o, or else http://127.0.0.1:8421.
func New(server string, o Options) (*Client, error) {
	if server == "" {
		server, o = fromEnvironment(o)
	}
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no URL of a server, such as %s", server, defaultServer)
	}
	c := &Client{strings.TrimSuffix(u.String(), "/"), o.Token, o.HTTP, o.Timeout, o.Attempts}
	if c.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConns, transport.MaxIdleConnsPerHost = idleConnections, idleConnections
		c.http = &http.Client{Transport: transport}
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.attempts <= 0 {
		c.attempts = defaultAttempts
	}
	return c, nil
}

func fromEnvironment(o Options) (string, Options) {
	if o.Token == "" {
		o.Token = os.Getenv("EPICYCLE_TOKEN")
	}
	if server := os.Getenv("EPICYCLE_SERVER"); server != "" {
		return server, o
	}
	return defaultServer, o
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Path returns the path of a timer, for Do.
func Path(key string) string { return "/v1/timers/" + escape(key) }

// QueuePath returns the path of a queue's request, for Do.
func QueuePath(name, what string) string { return "/v1/queues/" + escape(name) + "/" + what }

// escape is url.PathEscape, but it also escapes "." and "..", which would otherwise be taken for steps in a path.
func escape(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// Do sends a request for which there is no method, and decodes the answer. If in is not nil, it is the body of the
// request. If out is not nil, the answer is decoded into it. An answer that is an error is returned as an *Error. A request
// that fails is repeated as long as the server has not begun with it, or if its method is GET.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	return c.send(ctx, request{method: method, path: path, in: in, out: out, again: method == http.MethodGet})
}

// Open sends a request, once and without a timeout, and returns the answer, whose body the caller has to close. An answer
// that is an error is returned as an *Error.
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

// read reads an answer.
func read(resp *http.Response, out any) error {
	defer resp.Body.Close()
	if out == nil {
		_, err := io.Copy(io.Discard, resp.Body)
		return err
	}
	return json.NewDecoder(resp.Body).Decode(out)
}
