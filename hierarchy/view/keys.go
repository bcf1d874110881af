package view

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Keys shows the keys of w on the page: the next 20 that are due, with the time that is
// left, and up to 20 that a text finds. It never shows values. Without Keys no key is shown,
// because keys may be secret, such as session tokens. format returns the text for a key and
// may mask it; only that text is searched. If format is nil, fmt.Sprint is used. It is called
// by one request at a time, while the program goes on: if keys are pointers, it must not read
// what others write.
//
// In Handler, w is the wheel that the page shows. In Index, w is one of the wheels, and there
// may be a Keys for each; Index panics if w is not listed. Keys panics if w is nil.
//
// A request for keys goes through all keys of w, in some tens of nanoseconds for each, plus a
// call of format if a text is searched: see the package comment.
func Keys[K comparable, V any](w *hierarchy.Keyed[K, V], format func(K) string) Option {
	mustNotBeNil(w, "Keys")
	if format == nil {
		format = func(k K) string { return fmt.Sprint(k) }
	}
	k := newKeys(w, func(ctx context.Context, find string) (keyList, error) {
		return listKeys(ctx, w, format, find)
	})
	return func(o *options) { o.keys = append(o.keys, k) }
}

// keys answers requests for the keys of a wheel. Only one request at a time goes through the
// keys, so that many viewers together use one processor at most.
type keys struct {
	source Source
	list   func(ctx context.Context, find string) (keyList, error)
	turn   chan struct{} // full while a request goes through the keys

	next, found shared // only used by the one whose turn it is
}

func newKeys(source Source, list func(context.Context, string) (keyList, error)) *keys {
	return &keys{source: source, list: list, turn: make(chan struct{}, 1)}
}

// shared is the last answer, for others who ask the same soon after.
type shared struct {
	find  string
	taken time.Time
	text  []byte // JSON, not written to after it is set; nil if there is none
}

// shareTime is how long an answer is sent to others.
const shareTime = time.Second

// get returns the answer for find, as JSON. The error is that of the context.
func (k *keys) get(ctx context.Context, find string) ([]byte, error) {
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-k.turn }() // also if the format function panics
	last := &k.next
	if find != "" {
		last = &k.found
	}
	if last.text != nil && last.find == find && time.Since(last.taken) < shareTime {
		return last.text, nil
	}
	list, err := k.list(ctx, find)
	if err != nil {
		return nil, err
	}
	*last = shared{find, list.Time, encode(list)}
	return last.text, nil
}

// serveKeys answers with the next keys, or with those that ?find= finds.
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
	text, err := d.keys.get(r.Context(), r.URL.Query().Get("find"))
	if err != nil {
		http.Error(w, "view: the request ended before all keys were read", http.StatusServiceUnavailable)
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

// lastKeys returns the keys for a Handler, or nil. Their source may differ from the
// Handler's, which may be a struct around the wheel.
func (o options) lastKeys() *keys {
	if len(o.keys) == 0 {
		return nil
	}
	return o.keys[len(o.keys)-1]
}
