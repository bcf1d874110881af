package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Hook is what the requests of a webhook have besides. In answers, headers have null instead of their values, unless the
// bearer may set timers.
type Hook struct {
	Method  string             `json:"method,omitempty" enum:"GET,POST,PUT,PATCH,DELETE" doc:"Of a webhook's requests, POST by default. GET and DELETE have no body"`
	Headers map[string]*string `json:"headers,omitempty" doc:"Of a webhook's requests, at most 32, of 8 KiB. Answers have the values only for tokens that may write, else null" example:"{\"Authorization\": \"Bearer x\"}"`
	Secret  string             `json:"secret,omitempty" doc:"The name of the secret by which a webhook is signed, instead of the server's" example:"shop"`
}

// Retry says how often a timer is tried.
type Retry struct {
	// Attempts is a pointer, so that 0 can be refused.
	Attempts *int   `json:"attempts,omitempty" minimum:"1" maximum:"1000" doc:"After so many failed attempts the timer is dead; 16 by default"`
	Backoff  string `json:"backoff,omitempty" doc:"The pause after the first failed attempt, doubled each time, half of it random; 1s by default" example:"1s"`
	Most     string `json:"most,omitempty" doc:"The longest pause, 10m by default" example:"10m"`
}

var (
	errHook    = errors.New("to: method, headers and secret are for webhooks")
	errSecrets = errors.New("to: secret: this server has no secret with this name in its -secret-dir")
)

// parse returns the hook of a target of a kind.
func (h *Hook) parse(kind task.Kind) (t task.Hook, err error) {
	if kind != task.Webhook && (h.Method != "" || h.Secret != "" || h.Headers != nil) {
		return t, errHook
	}
	t.Method, t.Secret = h.Method, h.Secret
	if t.Method == http.MethodPost {
		t.Method = ""
	}
	var all []task.Header
	for name, value := range h.Headers {
		if value == nil {
			return t, fmt.Errorf("to: headers: the value of %.60q is null, as in an answer to a token that may read alone", name)
		}
		all = append(all, task.Header{Name: name, Value: *value})
	}
	t.SetHeaders(all)
	if err := t.Check(); err != nil {
		return t, fmt.Errorf("to: %w", err)
	}
	return t, nil
}

// hookOf returns a hook as it is in answers. values is whether these have the values of headers.
func hookOf(t *task.Hook, values bool) (h Hook) {
	h.Method, h.Secret = t.Method, t.Secret
	for _, one := range t.Headers {
		if h.Headers == nil {
			h.Headers = make(map[string]*string, len(t.Headers))
		}
		if h.Headers[one.Name] = nil; values {
			h.Headers[one.Name] = &one.Value
		}
	}
	return h
}

// size returns about how many bytes a hook takes.
func (h *Hook) size() (n int) {
	for name, value := range h.Headers {
		if n += len(name); value != nil {
			n += len(*value)
		}
	}
	return n
}

// parse returns the retry of a nil Retry, or of another one.
func (r *Retry) parse() (t task.Retry, err error) {
	if r == nil {
		return t, nil
	}
	if r.Attempts != nil {
		if t.Attempts = *r.Attempts; t.Attempts == 0 {
			t.Attempts = -1 // which is refused
		}
	}
	for _, one := range []struct {
		name, text string
		to         *time.Duration
	}{{"backoff", r.Backoff, &t.Backoff}, {"most", r.Most, &t.Most}} {
		if one.text == "" {
			continue
		}
		if *one.to, err = time.ParseDuration(one.text); err != nil {
			return t, fmt.Errorf("retry: %s: %.40q is not a duration such as 1s", one.name, one.text)
		}
		*one.to = cmp.Or(*one.to, -1) // 0 is refused, too
	}
	if err := t.Check(); err != nil {
		return t, fmt.Errorf("retry: %w", err)
	}
	return t, nil
}

// retryOf returns a retry as it is in answers, or nil if all is as the server has it.
func retryOf(t *task.Retry) *Retry {
	if t.IsZero() {
		return nil
	}
	r := new(Retry)
	if t.Attempts != 0 {
		r.Attempts = &t.Attempts
	}
	if t.Backoff != 0 {
		r.Backoff = t.Backoff.String()
	}
	if t.Most != 0 {
		r.Most = t.Most.String()
	}
	return r
}

// hasSecret returns an error if the server does not have the secret of a webhook.
func (a *API) hasSecret(h *task.Hook) error {
	if a.Keys.Has(h.Secret) {
		return nil
	}
	return errSecrets
}

// seesHeaders reports whether the bearer of a request may see the values of headers.
func seesHeaders(ctx context.Context) bool {
	who, ok := ctx.Value(bearerKey{}).(*access.Bearer)
	return ok && who.Role >= access.Write
}
