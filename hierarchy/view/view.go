package view

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Source is what is shown: a *hierarchy.Wheel, *hierarchy.Of or *hierarchy.Keyed,
// or anything with the figures of one.
type Source interface {
	Stats() hierarchy.Stats
	Circles() []hierarchy.CircleStats // finest first
}

// Handler is the page that shows source, and the figures behind it. It may be
// mounted several times, and is to be mounted under a path that ends in a slash.
// It answers to localhost and to IP addresses; Hosts allows other names, and Title
// tells one page from another. It panics if source is nil.
func Handler(source Source, opts ...Option) http.Handler {
	o := collect(opts)
	g := newGauge(mustBeWheel(source, "Handler"))
	return &view{hosts: o.hosts, front: exhibit{pageOfWheel(o.title), g.shared()}}
}

// mustBeWheel finds nil, and the nil wheel of a constructor whose error nobody looked
// at, which would else be found by the first one to look at the page.
func mustBeWheel(source Source, caller string) Source {
	v := reflect.ValueOf(source)
	if source == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("view: " + caller + " was given nil instead of a wheel")
	}
	return source
}

// view answers requests.
type view struct {
	hosts  hosts
	front  exhibit
	wheels map[string]exhibit // of an Index, by name; else nil
}

// exhibit is one page, and the figures behind it.
type exhibit struct {
	page    webPage
	figures *shared
}

func (v *view) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !v.hosts.answerTo(r.Host) {
		refuse(w, r)
		return
	}
	answer := v.answerTo(r)
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

const notFound = `view: nothing is here. The page is where the handler is mounted, at a path that
ends in "/", and beside it are "json" and "events".`

// answerTo tells what is asked for by the last part of the path, whatever comes
// before: no router need say where it is mounted.
func (v *view) answerTo(r *http.Request) http.HandlerFunc {
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case last == "json":
		return v.about(exhibit.serveJSON)
	case last == "events":
		return v.about(exhibit.serveEvents)
	case r.URL.Path == "" && lastAsked(r) != "", last != "" && strings.HasSuffix(r.Pattern, "/"+last):
		return addSlash
	case last == "":
		return v.about(exhibit.servePage)
	}
	return nil
}

// about has serve answer for what a request is about: an Index or, where its query has
// the name of one, a wheel. A name in the path could not be told from where the handler
// is mounted.
func (v *view) about(serve func(exhibit, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if v.wheels == nil || !q.Has("wheel") {
			serve(v.front, w, r)
			return
		}
		e, ok := v.wheels[q.Get("wheel")]
		if !ok {
			http.Error(w, fmt.Sprintf("view: there is no wheel %q; the page without a query lists those there are", q.Get("wheel")),
				http.StatusNotFound)
			return
		}
		serve(e, w, r)
	}
}

// addSlash sends from the path under which the handler is mounted to the same with
// a slash, without which relative addresses would lead beside the page. Of such a
// path http.StripPrefix leaves nothing, and a router that was given it says so in
// r.Pattern. Where it leads is itself relative: what was stripped from the path,
// here or by a proxy, is not known.
func addSlash(w http.ResponseWriter, r *http.Request) {
	to := "./" + lastAsked(r) + "/"
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// lastAsked is the last part of the path before any of it was stripped.
func lastAsked(r *http.Request) string {
	asked, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return "" // a request that came by no server
	}
	path := asked.EscapedPath()
	return path[strings.LastIndexByte(path, '/')+1:]
}

func (e exhibit) servePage(w http.ResponseWriter, r *http.Request) { e.page.serve(w, r) }

// serveJSON answers with figures taken for it.
func (e exhibit) serveJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprintf(w, "%s\n", e.figures.notOlder(0))
}
