package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/traced"
)

// Request is the content of a webhook.
type Request struct {
	URL     string
	Key, ID string
	Due     time.Time
	Attempt int
	Body    []byte
	Hook    task.Hook // its Headers must have passed its Check
	Trace   string    // the header traceparent, or ""
}

// Sender sends webhooks. NewSender makes one.
type Sender struct {
	transport *http.Transport
	keys      *Keys
	agent     string
	now       func() time.Time
}

const (
	dialTime  = 10 * time.Second
	maxHeader = 64 << 10 // limit for the headers of a response, and of all responses 1xx before it
	maxBody   = 64 << 10 // limit for the body of a response; after a longer body, the connection is closed
	bodyTime  = time.Second
)

// MaxRetryIn is the longest time that a receiver can ask for with Retry-After.
const MaxRetryIn = time.Hour

// NewSender returns a Sender. If keys is nil, requests have no signature. perHost is the largest number of
// connections to a host.
func NewSender(guard *Guard, keys *Keys, perHost int, version string) *Sender {
	dialer := &net.Dialer{Timeout: dialTime, Control: guard.control}
	// HTTP/2 would share one connection among the requests to a host: a receiver that stops reading would hold up all of
	// them, beyond their contexts. With HTTP/1.1 a request that is given up closes a connection of its own.
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &Sender{&http.Transport{ // a proxy is not used, since it would resolve names itself
		DialContext:            dialer.DialContext,
		Protocols:              &protocols,
		TLSHandshakeTimeout:    dialTime,
		MaxIdleConns:           1000,
		MaxIdleConnsPerHost:    perHost,
		MaxConnsPerHost:        perHost, // a dial goes on after the end of the attempt that began it
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
	}, keys, "epicycle/" + version, time.Now}
}

// Close closes idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Later is the error of a webhook whose receiver asks, with Retry-After, for a pause before the next attempt. In is
// between 0 and MaxRetryIn.
type Later struct {
	error
	In time.Duration
}

func (l *Later) Unwrap() error { return l.error }

// Gone is the error of a webhook whose receiver wants no further attempt. It wraps a durable.Permanent.
type Gone struct{ error }

func (g *Gone) Unwrap() error { return g.error }

// Send sends a webhook. status is the status with which the receiver has answered, or 0. The error is nil if the receiver
// accepted the webhook by a 2xx status. It is a Gone if there must be no further attempt, and a
// Later if the receiver asks for a pause. Errors contain neither the URL nor the key, nor a header.
//
// Send returns when ctx is done, whatever the receiver does.
func (s *Sender) Send(ctx context.Context, r *Request) (status int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := s.request(ctx, r)
	if err != nil {
		return 0, err
	}
	// A client would follow redirects, and add the URL and what the receiver has sent to errors.
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, words(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols { // else the body is the connection, whose reads ignore ctx
		drain(resp.Body, cancel)
	}
	return resp.StatusCode, s.verdict(resp)
}

var errURL = errors.New("the webhook is no URL")

func (s *Sender) request(ctx context.Context, r *Request) (*http.Request, error) {
	body := r.Body
	if !r.Hook.HasBody() {
		body = nil
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(r.Hook.Method, http.MethodPost), r.URL, reader(body))
	if err != nil {
		return nil, errURL // err has the URL
	}
	h := req.Header
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	h.Set("User-Agent", s.agent)
	for _, own := range r.Hook.Headers {
		h.Set(own.Name, own.Value)
	}
	h.Set("epicycle-key", HeaderKey(r.Key))
	h.Set("epicycle-due", r.Due.UTC().Format(time.RFC3339Nano))
	h.Set("epicycle-attempt", strconv.Itoa(r.Attempt))
	if r.Trace != "" {
		h.Set(traced.Header, r.Trace)
	}
	return req, s.keys.sign(h, r.Hook.Secret, r.ID, s.now(), body)
}

// reader returns a reader of a body, by which package http knows its length.
func reader(body []byte) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return bytes.NewReader(body)
}

// drain reads the body of a response up to a limit, so that the connection can be reused, and gives up after a while.
func drain(body io.Reader, cancel func()) {
	defer time.AfterFunc(bodyTime, cancel).Stop()
	_, _ = io.CopyN(io.Discard, body, maxBody)
}

func (s *Sender) verdict(resp *http.Response) error {
	code := resp.StatusCode
	if code >= 200 && code < 300 {
		return nil
	}
	err := answered(resp)
	switch {
	case code == http.StatusGone:
		return &Gone{durable.Permanent(err)}
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		if in, ok := retryAfter(resp.Header.Values("Retry-After"), s.now()); ok {
			return &Later{err, in}
		}
	}
	return err
}

// retryAfter returns the longest pause that headers Retry-After ask for, at most MaxRetryIn. ok is false if none of them
// is valid.
func retryAfter(headers []string, now time.Time) (longest time.Duration, ok bool) {
	for _, text := range headers {
		if in, valid := parseRetryAfter(strings.TrimSpace(text), now); valid {
			longest, ok = max(longest, in), true
		}
	}
	return longest, ok
}

// parseRetryAfter parses a header Retry-After: seconds, however many, or a time, which may have passed.
func parseRetryAfter(text string, now time.Time) (time.Duration, bool) {
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), MaxRetryIn), true
	}
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > uint64(MaxRetryIn/time.Second) {
		return MaxRetryIn, true
	}
	return time.Duration(n) * time.Second, true
}

// HeaderKey returns a key as a header's value: visible ASCII and inner spaces as they are, and all other bytes, and
// the percent sign, percent-encoded.
func HeaderKey(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		inner := c == ' ' && i > 0 && i < len(key)-1
		if c > ' ' && c < 0x7f && c != '%' || inner {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
