package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
)

// hookFlags are the flags of what a webhook has besides its URL, and of how often a timer is tried.
type hookFlags struct {
	method, secret string
	headers        []string
	attempts       int
	retry          api.Retry
	flags          *pflag.FlagSet
}

func (h *hookFlags) add(f *pflag.FlagSet) {
	h.flags = f
	f.StringVar(&h.method, "method", "", "of the webhook's requests: GET, POST, PUT, PATCH or DELETE (default POST)")
	f.StringArrayVar(&h.headers, "header", nil, "a `header` of the webhook's requests, such as 'Authorization: Bearer x'; again for more")
	f.StringVar(&h.secret, "secret", "", "the `name` of the secret of the webhook's signature, in the server's -secret-dir")
	f.IntVar(&h.attempts, "attempts", 0, "after so many failed attempts it is dead (default 16)")
	f.StringVar(&h.retry.Backoff, "backoff", "", "the `duration` of the pause after the first failed attempt, doubled each time (default 1s)")
	f.StringVar(&h.retry.Most, "most", "", "the `duration` of the longest pause (default 10m)")
}

// apply sets what the flags say.
func (h *hookFlags) apply(in *api.Setting, to *api.Target) error {
	to.Method, to.Secret = h.method, h.secret
	for _, text := range h.headers {
		name, value, ok := strings.Cut(text, ":")
		if !ok { // the text may be a secret
			return usageError("-header is not a name, a colon and a value")
		}
		if _, twice := to.Headers[name]; twice {
			return usageError("-header has %q twice", name)
		}
		if to.Headers == nil {
			to.Headers = make(map[string]*string)
		}
		value = strings.TrimSpace(value)
		to.Headers[name] = &value
	}
	if h.flags.Changed("attempts") {
		h.retry.Attempts = &h.attempts
	}
	if h.retry != (api.Retry{}) {
		in.Retry = &h.retry
	}
	return nil
}

// hook prints what a webhook has besides its URL. Of headers it prints the names alone.
func (t *table) hook(h *api.Hook) {
	if h.Method != "" {
		t.row("method", h.Method)
	}
	if len(h.Headers) > 0 {
		t.row("headers", strings.Join(slices.Sorted(maps.Keys(h.Headers)), ", "))
	}
	if h.Secret != "" {
		t.row("secret", h.Secret)
	}
}

// retry prints what of the retries is not as the server has it.
func (t *table) retry(r *api.Retry) {
	if r == nil {
		return
	}
	var parts []string
	if r.Attempts != nil {
		parts = append(parts, fmt.Sprint("attempts ", *r.Attempts))
	}
	if r.Backoff != "" {
		parts = append(parts, "backoff "+r.Backoff)
	}
	if r.Most != "" {
		parts = append(parts, "most "+r.Most)
	}
	t.row("retry", strings.Join(parts, ", "))
}
