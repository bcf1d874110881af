package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Request is the content of a webhook.
type Request struct {
	URL     string
	Key, ID string
	Due     time.Time
	Attempt int
	Body    []byte
}

// Sender sends webhooks. NewSender makes one.
type Sender struct {
	client *http.Client
	signer *Signer
	agent  string
	now    func() time.Time
}

const (
	dialTime   = 10 * time.Second
	maxHeader  = 64 << 10 // limit for the header of a response
	maxBody    = 64 << 10 // limit for the body of a response; after a longer body, the connection is closed
	bodyTime   = time.Second
	maxRetryIn = 24 * time.Hour
)

// NewSender returns a Sender. If signer is nil, requests have no signature. perHost is the number of idle connections
// to a host that are kept.
func NewSender(guard *Guard, signer *Signer, perHost int, version string) *Sender {
	dialer := &net.Dialer{Timeout: dialTime, Control: guard.control}
	transport := &http.Transport{ // a proxy is not used, since it would resolve names itself
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTime,
		MaxIdleConns:           1000,
		MaxIdleConnsPerHost:    perHost,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return &Sender{client, signer, "epicycle/" + version, time.Now}
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send sends a webhook. It returns nil if the receiver accepted the webhook by a 2xx status. Otherwise the error
// determines, by durable.Permanent and durable.RetryAfter, whether and when there is another attempt. Errors contain
// neither the URL nor the key.
func (s *Sender) Send(ctx context.Context, r *Request) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := s.request(ctx, r)
	if err != nil {
		return bare(err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
			return cause
		}
		return bare(err)
	}
	defer resp.Body.Close()
	drain(resp.Body, cancel)
	return s.verdict(resp)
}

func (s *Sender) request(ctx context.Context, r *Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", s.agent)
	h.Set("epicycle-key", HeaderKey(r.Key))
	h.Set("epicycle-due", r.Due.UTC().Format(time.RFC3339Nano))
	h.Set("epicycle-attempt", strconv.Itoa(r.Attempt))
	return req, s.signer.sign(h, r.ID, s.now(), r.Body)
}

// drain reads the response up to a limit, so that the connection can be reused, and gives up after a while.
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
		return durable.Permanent(err)
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		if in, ok := retryAfter(resp.Header.Get("Retry-After"), s.now()); ok {
			return durable.RetryAfter(in, err)
		}
	}
	return err
}

// retryAfter parses the header Retry-After: seconds, or a time.
func retryAfter(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(n)*time.Second, maxRetryIn), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), maxRetryIn), true
	}
	return 0, false
}

// bare puts an error into words, without the URL that package http adds.
func bare(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		if of.Timeout() && of.Err == nil {
			return context.DeadlineExceeded
		}
		return words(of.Err)
	}
	return words(err)
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
