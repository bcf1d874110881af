package view

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Keys shows keys of w on the page, with their remaining times: the 20 keys that are due next, or up to 20 keys that a
// text finds. It never shows values. Without Keys no key is shown, because keys may be secret, such as session tokens.
// format returns the text for a key and may mask it; only that text is searched. If format is nil, fmt.Sprint is used.
// One request at a time calls format, while the program continues: if keys are pointers, it must not read what other
// goroutines write.
//
// In Handler, w is the wheel that the page shows. In Index, w is one of the wheels, and there may be a Keys for each;
// Index panics if w is not listed. Keys panics if w is nil.
//
// A request for keys iterates over all keys of w, in some tens of nanoseconds for each key. If a text is searched,
// there is also a call of format for each key. See the package comment.
func Keys[K comparable, V any](w *hierarchy.Keyed[K, V], format func(K) string) Option {
	mustNotBeNil(w, "Keys")
	if format == nil {
		format = func(k K) string { return fmt.Sprint(k) }
	}
	k := newKeys(w, func(ctx context.Context, q keyQuery) (keyList, error) {
		return listKeys(ctx, w, format, q.find)
	})
	return func(o *options) { o.keys = append(o.keys, k) }
}

// Key is a key as ListedKeys shows it.
type Key struct {
	Text      string
	Remaining time.Duration // time until the key is due
	Note      string        // text that is shown instead of Remaining, unless it is ""
}

// ListedKeys shows keys of timers that are not in a Keyed: package hierarchy/durable/view uses it for durable timers.
// The page has a choice of states, of which the first is chosen at the beginning. list returns keys of timers in the
// chosen state, whose texts begin with find, and whether there are more. list need not return more than MaxKeys keys,
// which are shown in the order in which it returns them. One request at a time calls list. The option is used like
// Keys.
func ListedKeys(source Source, states []string, list func(ctx context.Context, find, state string) ([]Key, bool, error)) Option {
	mustNotBeNil(source, "ListedKeys")
	k := newKeys(source, func(ctx context.Context, q keyQuery) (keyList, error) {
		if !slices.Contains(states, q.state) {
			q.state = states[0]
		}
		all, more, err := list(ctx, q.find, q.state)
		if err != nil {
			return keyList{}, err
		}
		return answerOf(q, states, all, more), nil
	})
	k.rest = restOfListed
	return func(o *options) { o.keys = append(o.keys, k) }
}

// keys answers requests for the keys of a wheel. Only one request at a time iterates over the keys, so that many
// viewers together use at most one processor.
type keys struct {
	source Source
	list   func(context.Context, keyQuery) (keyList, error)
	rest   time.Duration // an answer that took a time t is also sent to other requests for at least rest*t
	turn   chan struct{} // full while a request iterates over the keys

	next, found shared // used only by the request whose turn it is
}

// keyQuery is the query of a request.
type keyQuery struct{ find, state string }

func newKeys(source Source, list func(context.Context, keyQuery) (keyList, error)) *keys {
	return &keys{source: source, list: list, turn: make(chan struct{}, 1)}
}

// shared is the last answer, for other requests with the same query soon after.
type shared struct {
	query keyQuery
	until time.Time
	text  []byte // JSON, not written to after it is set; nil if there is none
}

// shareTime is the least time for which an answer is also sent to other requests with the same query.
const shareTime = time.Second

// restOfListed is the field rest of keys that ListedKeys makes. It is long so that open pages do not keep owners in
// other processes busy.
const restOfListed = 10

// get returns the answer for a query, as JSON. If ctx is done first, it returns ctx's error.
func (k *keys) get(ctx context.Context, q keyQuery) ([]byte, error) {
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-k.turn }() // even if the format function panics
	last := &k.next
	if q.find != "" {
		last = &k.found
	}
	if last.text != nil && last.query == q && time.Now().Before(last.until) {
		return last.text, nil
	}
	begun := time.Now()
	list, err := k.list(ctx, q)
	if err != nil {
		return nil, err
	}
	ended := time.Now()
	*last = shared{q, ended.Add(max(shareTime, k.rest*ended.Sub(begun))), encode(list)}
	return last.text, nil
}

// serveKeys answers with the keys that are due next, or with the keys that ?find= finds.
func (d display) serveKeys(w http.ResponseWriter, r *http.Request) {
	if d.keys == nil {
		http.Error(w, notFound, http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "application/json")
		return
	}
	query := r.URL.Query()
	text, err := d.keys.get(r.Context(), keyQuery{query.Get("find"), query.Get("state")})
	if err != nil {
		text := "view: the request ended before all keys were read"
		if r.Context().Err() == nil {
			text = "view: the keys can't be read: " + err.Error()
		}
		http.Error(w, text, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, "%s\n", text)
}

// keysOf returns the keys to show for a wheel of an Index, or nil.
func (o options) keysOf(source Source) *keys {
	for _, k := range o.keys {
		if k.source == source {
			return k
		}
	}
	return nil
}

// lastKeys returns the keys for a Handler, or nil. The source of the keys may differ from the source of the Handler,
// which may be a struct around the wheel.
func (o options) lastKeys() *keys {
	if len(o.keys) == 0 {
		return nil
	}
	return o.keys[len(o.keys)-1]
}
