package view

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Source is the wheel to show: a *hierarchy.Wheel, *hierarchy.Of or *hierarchy.Keyed, or
// anything else with these methods. See LogSource for timers on a disk.
type Source interface {
	Stats() hierarchy.Stats
	Circles() []hierarchy.CircleStats // finest first
}

// Handler returns a handler for a page that shows source, and for the figures of source. Mount the handler under a path
// that ends in a slash. It may be mounted several times. It answers requests for localhost and for IP addresses. The
// option Hosts allows other names, Title sets the title of the page, and Keys shows keys. Handler panics if source is
// nil.
func Handler(source Source, opts ...Option) http.Handler {
	o := collect(opts)
	g := newGauge(mustNotBeNil(source, "Handler"))
	k := o.lastKeys()
	return &view{hosts: o.hosts, front: display{pageOfWheel(o.title, kindOf(source, k)), g.cache(), k}, hasKeys: k != nil}
}

// kindOf returns what the page of source has in addition to the wheel.
func kindOf(source Source, k *keys) kind {
	_, logs := source.(LogSource)
	return kind{keys: k != nil, logs: logs}
}

// mustNotBeNil panics if source is nil or a nil pointer, which a constructor of a wheel returns with an error. Without
// this check the first request would panic.
func mustNotBeNil(source Source, caller string) Source {
	v := reflect.ValueOf(source)
	if source == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("view: " + caller + " was given nil instead of a wheel")
	}
	return source
}

// view answers requests.
type view struct {
	hosts  hosts
	front  display            // shown without ?wheel=
	wheels map[string]display // by name; nil for a Handler

	hasKeys bool // whether any display shows keys
}

// display is a page and its figures.
type display struct {
	page    webPage
	figures *cache
	keys    *keys // nil if no keys are shown
}

func (v *view) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !v.hosts.allows(r.Host) {
		refuse(w, r)
		return
	}
	answer := v.route(r)
	if answer == nil {
		http.Error(w, notFound, http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "view: only GET and HEAD are served", http.StatusMethodNotAllowed)
		return
	}
	answer(w, r)
}

const notFound = `view: not found. The page is at the path under which the handler is mounted, which
ends in "/", and its figures are at "json" and "events" under the same path.`

// route chooses the handler by the last element of the path, so that the package need not
// know where it is mounted. It returns nil if nothing is served at the path.
func (v *view) route(r *http.Request) http.HandlerFunc {
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case last == "json":
		return v.withDisplay(display.serveJSON)
	case last == "events":
		return v.withDisplay(display.serveEvents)
	case last == "keys" && v.hasKeys:
		return v.withDisplay(display.serveKeys)
	case r.URL.Path == "" && lastOfRequestURI(r) != "", last != "" && strings.HasSuffix(r.Pattern, "/"+last):
		return addSlash
	case last == "":
		return v.withDisplay(display.servePage)
	}
	return nil
}

// withDisplay calls serve with the display of the wheel in the query ?wheel=, or with the front one. The name is not in
// the path, where it could not be distinguished from the path under which the handler is mounted.
func (v *view) withDisplay(serve func(display, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if v.wheels == nil || !q.Has("wheel") {
			serve(v.front, w, r)
			return
		}
		d, ok := v.wheels[q.Get("wheel")]
		if !ok {
			http.Error(w, fmt.Sprintf("view: there is no wheel %q; the page without a query lists all wheels", q.Get("wheel")),
				http.StatusNotFound)
			return
		}
		serve(d, w, r)
	}
}

// addSlash redirects from the path under which the handler is mounted to the same path with a slash, without which the
// relative URLs of the page would be wrong. Without the slash, the path is empty after http.StripPrefix, or it is the
// end of r.Pattern. The redirect is relative, because the handler does not know what was stripped from the path, here
// or by a proxy.
func addSlash(w http.ResponseWriter, r *http.Request) {
	to := "./" + lastOfRequestURI(r) + "/"
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// lastOfRequestURI returns the last element of the path before any of it was stripped.
func lastOfRequestURI(r *http.Request) string {
	uri, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return "" // the request did not come through a server
	}
	path := uri.EscapedPath()
	return path[strings.LastIndexByte(path, '/')+1:]
}

func (d display) servePage(w http.ResponseWriter, r *http.Request) { d.page.serve(w, r) }

// serveJSON answers with a new snapshot.
func (d display) serveJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprintf(w, "%s\n", d.figures.get(0))
}
