package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/page"
)

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	defer drain(w, r)()
	r, p := a.authenticate(r)
	if p == nil && strings.HasPrefix(r.URL.Path, "/v1/") {
		p = a.prepare(r)
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

// prepare makes huma read any body as JSON, and refuses requests that come from a web page of another site.
func (a *API) prepare(r *http.Request) *Problem {
	if err := crossOrigin.Check(r); err != nil {
		return problem(http.StatusForbidden, "the request comes from the page of another site")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Del("Accept")
	return nil
}

var crossOrigin = http.NewCrossOriginProtection()

// notFound answers as the mux would, but with a Problem.
func notFound(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	if r.URL.Path == "/v1/timers/" {
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

// describeRest describes the requests that are not registered with huma.
func describeRest(api huma.API) {
	token := []map[string][]string{{"token": {}}}
	add := func(id, path, summary, of string, security []map[string][]string, more map[string]*huma.Response) {
		more["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{of: {}}}
		api.OpenAPI().AddOperation(&huma.Operation{Method: http.MethodGet, OperationID: id, Path: path, Summary: summary,
			Security: security, Responses: more})
	}
	unready := &huma.Response{Description: "Why not", Content: map[string]*huma.MediaType{"application/problem+json": {}}}
	add("health", "/healthz", "Whether the process lives", "application/json", nil, map[string]*huma.Response{})
	add("ready", "/readyz", "Whether timers can be set and are fired", "application/json", nil, map[string]*huma.Response{"503": unready})
	add("metrics", "/metrics", "Figures for Prometheus", "text/plain", token, map[string]*huma.Response{})
	add("openapi", "/openapi.json", "This description", "application/json", nil, map[string]*huma.Response{})
	add("page", "/", "The page", "text/html", nil, map[string]*huma.Response{})
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
