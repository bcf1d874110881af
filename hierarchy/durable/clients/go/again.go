package epicycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// request is a request whose answer is JSON.
type request struct {
	method, path string
	in, out      any
	// again reports whether the request may be repeated if it is unknown whether it has taken hold.
	again bool
	// wait is how long the server may wait besides.
	wait time.Duration
}

// send sends a request until there is an answer, or one that does not change.
func (c *Client) send(ctx context.Context, r request) error {
	var body []byte
	if r.in != nil {
		var err error
		if body, err = json.Marshal(r.in); err != nil {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, &r, body)
		if err == nil || attempt == c.attempts || ctx.Err() != nil || !passing(err, r.again) {
			return err
		}
		if !sleep(ctx, pause(attempt, err)) {
			return err
		}
	}
}

func (c *Client) once(ctx context.Context, r *request, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+r.wait)
	defer cancel()
	resp, err := c.Open(ctx, r.method, r.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	return read(resp, r.out)
}

// passing reports whether a request that has failed can be repeated. again reports whether it may be if it is unknown
// whether it has taken hold.
func passing(err error, again bool) bool {
	if p, ok := errors.AsType[*Error](err); ok {
		switch p.Status {
		case http.StatusTooManyRequests:
			return true
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return again
		}
		return false
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true // the server has seen nothing of it
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return false
	}
	return again
}

const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// pause returns the time until the next attempt: twice as long each time, half of it random, and no less than the server
// asks for.
func pause(attempt int, err error) time.Duration {
	d := min(firstPause<<min(attempt-1, 10), mostPause)
	d = d/2 + rand.N(d/2)
	if p, ok := errors.AsType[*Error](err); ok {
		d = max(d, p.RetryAfter)
	}
	return d
}

// sleep reports whether the time has passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
