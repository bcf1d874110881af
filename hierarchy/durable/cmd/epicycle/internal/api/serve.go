package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/page"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/traced"
)

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	defer drain(w, r)()
	r, p := a.authenticate(r)
	if p == nil && strings.HasPrefix(r.URL.Path, "/v1/") {
		var end func()
		r, end, p = a.prepare(w, r)
		defer end()
	}
	if p != nil {
		p.write(w)
		return
	}
	handler, pattern := a.mux.Handler(r)
	if pattern == "" {
		notFound(w, r, handler)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// prepare prepares a request of a program. It refuses requests that come from a web page of another site.
func (a *API) prepare(w http.ResponseWriter, r *http.Request) (*http.Request, func(), *Problem) {
	if err := crossOrigin.Check(r); err != nil {
		return r, func() {}, problem(http.StatusForbidden, "the request comes from the page of another site")
	}
	r, p := split(r)
	if p != nil {
		return r, func() {}, p
	}
	r.Header.Del("Accept") // all answers are JSON, whatever the client accepts
	if parent, ok := traced.Of(r.Header); ok {
		r = r.WithContext(traced.With(r.Context(), parent))
	}
	return a.begin(w, r)
}

var crossOrigin = http.NewCrossOriginProtection()

// notFound answers as the mux would, but with a Problem.
func notFound(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	if r.URL.Path == timersPath {
		problem(http.StatusBadRequest, "the key is empty").write(w)
		return
	}
	answer := &header{header: make(http.Header)}
	handler.ServeHTTP(answer, r)
	for _, name := range []string{"Allow", "Location"} {
		if v := answer.header.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	detail := "there is nothing at this path"
	if answer.status == http.StatusMethodNotAllowed {
		detail = "this path has the methods " + answer.header.Get("Allow")
	}
	problem(answer.status, detail).write(w)
}

// header is a ResponseWriter that discards the body.
type header struct {
	header http.Header
	status int
}

func (h *header) Header() http.Header         { return h.header }
func (h *header) Write(b []byte) (int, error) { return len(b), nil }
func (h *header) WriteHeader(status int)      { h.status = status }

// registerRest registers the requests that are not for programs.
func (a *API) registerRest() {
	a.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { status(w, nil, "") })
	a.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { status(w, a.ready(), a.remark()) })
	a.mux.Handle("GET /metrics", a.metrics())
	page.Register(a.mux)
	a.mux.HandleFunc("GET /page/who", who)
	a.registerLive()
}

// status answers 200, with a remark if there is one, or 503 with the error.
func status(w http.ResponseWriter, err error, remark string) {
	if err != nil {
		p := problem(http.StatusServiceUnavailable, err.Error())
		p.retryAfter = retryTime
		p.write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	ok := map[string]string{"status": "ok"}
	if remark != "" {
		ok["detail"] = remark
	}
	_ = json.NewEncoder(w).Encode(ok)
}
