package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// described is the description of an API, against which its answers are checked.
type described struct {
	t        *testing.T
	doc      map[string]any
	compiler *jsonschema.Compiler
	seen     map[string]bool // METHOD path status
}

func describedBy(t *testing.T, a *API) *described {
	t.Helper()
	r := httptest.NewRequest("GET", "/openapi.json", nil)
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	require.Equal(t, 200, w.Code)
	doc, err := jsonschema.UnmarshalJSON(w.Body)
	require.NoError(t, err)
	d := &described{t: t, doc: doc.(map[string]any), compiler: jsonschema.NewCompiler(), seen: make(map[string]bool)}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	require.NoError(t, d.compiler.AddResource("http://test/openapi.json", doc))
	return d
}

// at returns what is at a path in the description, or nil.
func (d *described) at(path ...string) any {
	var v any = d.doc
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// validate checks text against the content at a path of the description, which must have the content's type.
func (d *described) validate(contentType, text string, path ...string) {
	d.t.Helper()
	kind, _, err := mime.ParseMediaType(contentType)
	require.NoError(d.t, err, contentType)
	path = append(path, "content", kind)
	require.NotNil(d.t, d.at(path...), "%s is not described: %s", path, text)
	path = append(path, "schema")
	if d.at(path...) == nil {
		return
	}
	pointer := ""
	for _, name := range path {
		pointer += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	schema, err := d.compiler.Compile("http://test/openapi.json#" + pointer)
	require.NoError(d.t, err)
	var v any = text
	if strings.HasSuffix(kind, "json") {
		v, err = jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(d.t, err, text)
	}
	require.NoError(d.t, schema.Validate(v), "%s: %s", path, text)
}

// request is a request of an operation.
type request struct {
	method, path, body string // path as in the description, with K for the key and Q for the name
	token              string
	change             func(*http.Request) *http.Request
}

// do sends a request, which must be answered with a status that is described, in a form that is.
func (d *described) do(a *API, status int, in request) string {
	d.t.Helper()
	whole := in.path
	in.path, _, _ = strings.Cut(in.path, "?")
	r := httptest.NewRequest(in.method, strings.NewReplacer("{key}", "K", "{name}", "Q", "{kind}", "queue").Replace(whole), strings.NewReader(in.body))
	r.Host = "localhost"
	if in.token != "" {
		r.Header.Set("Authorization", "Bearer "+in.token)
	}
	if in.change != nil {
		r = in.change(r)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	require.Equal(d.t, status, w.Code, "%s %s %s: %s", in.method, whole, in.body, w.Body)
	operation := []string{"paths", in.path, strings.ToLower(in.method)}
	require.NotNil(d.t, d.at(operation...), operation)
	answer := append(operation, "responses", fmt.Sprint(status))
	require.NotNil(d.t, d.at(answer...), "%s is not described", answer)
	d.validate(w.Header().Get("Content-Type"), w.Body.String(), answer...)
	if body := append(operation[:3:3], "requestBody"); status == 200 && d.at(body...) != nil {
		kind := slices.Collect(maps.Keys(d.at(append(body, "content")...).(map[string]any)))[0]
		d.validate(kind, in.body, body...)
	}
	d.seen[fmt.Sprint(in.method, " ", in.path, " ", status)] = true
	return w.Body.String()
}

// each calls f for each operation.
func (d *described) each(f func(method, path string, responses map[string]any)) {
	for path, item := range d.at("paths").(map[string]any) {
		for method, op := range item.(map[string]any) {
			f(strings.ToUpper(method), path, op.(map[string]any)["responses"].(map[string]any))
		}
	}
}

func withTokens(t *testing.T, a *API) *API {
	t.Helper()
	var lines strings.Builder
	for _, one := range []string{"read", "write", "admin", "read p-", "write p-"} {
		role, prefix, _ := strings.Cut(one, " ")
		fmt.Fprintf(&lines, "%s%s %s %x %s\n", role, prefix, role, sha256.Sum256([]byte(strings.ReplaceAll(one, " ", ""))), prefix)
	}
	tokens, err := access.Parse(strings.NewReader(lines.String()))
	require.NoError(t, err)
	a.Tokens = new(atomic.Pointer[access.Tokens])
	a.Tokens.Store(tokens)
	return a
}

const queued = `{"in":"0s","value":{"a":[1,"b",null]},"to":{"queue":"Q"}}`

// bodies are good bodies of the operations that have one.
var bodies = map[string]string{
	"PUT /v1/timers/{key}": queued, "PATCH /v1/timers/{key}": `{"in":"1h"}`, "POST /v1/import": importLine,
	"POST /v1/batch":              `{"operations":[{"op":"set","key":"K","in":"1h","to":{"queue":"Q"}},{"op":"move","key":"K","in":"2h"},{"op":"remove","key":"K"}]}`,
	"POST /v1/queues/{name}/take": `{"max":2,"wait":"1m"}`, "POST /v1/queues/{name}/done": `{"tokens":["x"]}`,
	"POST /v1/queues/{name}/fail": `{"tokens":["x"],"error":"why"}`, "PATCH /v1/limits/{kind}/{name}": `{"paused":true,"rate":2.5,"at_once":5}`,
}

// Each answer of each operation is as it is described, and each answer that is described is given.
func TestAnswersAreAsDescribed(t *testing.T) {
	a := withTokens(t, newAPI(t, func(cfg *durable.Config[string, task.Task]) { cfg.MaxAttempts, cfg.MaxPending = 1, 2 }))
	d := describedBy(t, a)
	d.good(a)
	d.refused(a)
	d.limited(a)
	d.withoutTokens(newAPI(t))
	d.unavailable(a)
	d.each(func(method, path string, responses map[string]any) {
		for status := range responses {
			require.True(t, d.seen[method+" "+path+" "+status], "%s %s is never answered with %s", method, path, status)
		}
	})
}

// good has each operation answer 200.
func (d *described) good(a *API) {
	admin := func(method, path, body string) string { return d.do(a, 200, request{method, path, body, "admin", nil}) }
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/", "/metrics"} {
		admin("GET", path, "")
	}
	token := d.takeOne(a)
	admin("GET", "/v1/timers", "")
	require.Contains(d.t, admin("POST", "/v1/queues/{name}/fail", `{"tokens":["`+token+`","x"],"error":"why"}`), `"ok":true`)
	admin("POST", "/v1/queues/{name}/done", `{"tokens":["x"]}`)
	require.Contains(d.t, admin("GET", "/v1/timers/{key}", ""), "dead")
	admin("GET", "/v1/export", "")
	d.do(a, 200, request{"GET", "/v1/events", "", "read", gone})
	admin("POST", "/v1/timers/{key}/revive", "")
	admin("PATCH", "/v1/timers/{key}", `{"at":"2040-01-01T00:00:00Z"}`)
	d.do(a, 409, request{"PATCH", "/v1/timers/{key}", `{"paused":true}`, "admin", nil})
	require.Contains(d.t, d.do(a, 409, request{"PUT", "/v1/timers/{key}?if=absent", queued, "admin", nil}), `"timer":{`)
	admin("DELETE", "/v1/timers/{key}", "")
	admin("PUT", "/v1/timers/{key}", `{"schedule":"@daily","value":null,"timeout":"1m","to":{"webhook":"http://example.com"}}`)
	admin("PUT", "/v1/timers/{key}", `{"in":"1h","to":{"webhook":"http://example.com","method":"PUT","headers":{"Authorization":"x"}},"retry":{"attempts":3}}`)
	for _, path := range []string{"/v1/timers/{key}", "/v1/timers"} {
		require.Contains(d.t, d.do(a, 200, request{"GET", path, "", "read", nil}), `{"Authorization":null}`)
	}
	admin("PUT", "/v1/timers/{key}", `{"schedule":"@daily","spread":"1h","from":"2040-01-01T00:00:00Z","until":"2041-01-01T00:00:00Z","to":{"queue":"Q"}}`)
	require.Contains(d.t, admin("PATCH", "/v1/timers/{key}", `{"paused":true}`), `"paused":true`)
	admin("PUT", "/v1/timers/{key}", `{"debounce":{"quiet":"5s","longest":"1m"},"to":{"queue":"Q"}}`)
	admin("GET", "/v1/timers?state=waiting&limit=1", "")
	admin("POST", "/v1/batch", bodies["POST /v1/batch"])
	admin("POST", "/v1/import?partial=true", importLine)
	admin("PATCH", "/v1/limits/{kind}/{name}", bodies["PATCH /v1/limits/{kind}/{name}"])
	d.limitedTimer(a)
	admin("GET", "/v1/limits", "")
	admin("GET", "/v1/limits/{kind}/{name}", "")
	admin("DELETE", "/v1/limits/{kind}/{name}", "")
	admin("DELETE", "/v1/timers?all=true", "")
}

// limitedTimer sets a timer that waits because of a limit.
func (d *described) limitedTimer(a *API) {
	admin := func(method, path, body string) string { return d.do(a, 200, request{method, path, body, "admin", nil}) }
	admin("PUT", "/v1/timers/{key}", queued)
	require.Eventually(d.t, func() bool { return strings.Contains(admin("GET", "/v1/limits", ""), `"waiting":1`) }, time.Minute, time.Millisecond)
	require.Contains(d.t, admin("GET", "/v1/timers/{key}", ""), `"limited_by":"queue Q"`)
}

// gone is the change to a request whose client leaves at once.
func gone(r *http.Request) *http.Request {
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	return r.WithContext(ctx)
}

// refused has operations answer that the sender must not do this, that there is no such timer, or that it can't be right.
func (d *described) refused(a *API) {
	d.each(func(method, path string, responses map[string]any) {
		body := bodies[method+" "+path]
		if _, ok := responses["401"]; ok {
			d.do(a, 401, request{method, path, body, "", nil})
		}
		if _, ok := responses["400"]; ok {
			d.do(a, 400, request{method, path, body, "admin", func(r *http.Request) *http.Request {
				r.Header.Set(timeoutHeader, "soon")
				return r
			}})
		}
		if _, ok := responses["404"]; ok {
			d.do(a, 404, request{method, path, body, "admin", nil})
		}
		if strings.HasPrefix(path, "/v1/") {
			token, where := "readp-", path
			if (method == "GET" || method == "DELETE") && !strings.Contains(path, "{") {
				where += "?prefix=x"
			}
			d.do(a, 403, request{method, where, body, token, nil})
		}
	})
	d.do(a, 403, request{"GET", "/metrics", "", "readp-", nil})
}

// limited has operations answer that there is too much of something.
func (d *described) limited(a *API) {
	d.each(func(method, path string, responses map[string]any) {
		body := bodies[method+" "+path]
		send := func(status int, change func(*http.Request) *http.Request) {
			if _, ok := responses[fmt.Sprint(status)]; ok && body != "" && body != importLine {
				d.do(a, status, request{method, path, body, "admin", change})
			}
		}
		send(408, func(r *http.Request) *http.Request {
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), slow{}))
			return r
		})
		send(413, func(r *http.Request) *http.Request {
			r.ContentLength = 1 << 40
			return r
		})
		a.memory.most = 0
		send(429, nil)
		a.memory.most = maxMemory
	})
	d.do(a, 413, request{"POST", "/v1/import", strings.Repeat(" ", maxLine+1), "admin", nil})
	d.full(a)
}

// full has operations answer that there are too many timers, one of which is dead.
func (d *described) full(a *API) {
	d.do(a, 200, request{"POST", "/v1/queues/{name}/fail", `{"tokens":["` + d.takeOne(a) + `"]}`, "admin", nil})
	d.do(a, 200, request{"POST", "/v1/batch", `{"operations":[{"op":"set","key":"1","in":"1h","to":{"queue":"Q"}},{"op":"set","key":"2","in":"1h","to":{"queue":"Q"}}]}`, "admin", nil})
	d.do(a, 429, request{"POST", "/v1/timers/{key}/revive", "", "admin", nil})
	a.lists.all, a.exports.all, a.follows.all = a.lists.most, a.exports.most, a.follows.most
	d.do(a, 429, request{"GET", "/v1/timers", "", "admin", nil})
	d.do(a, 429, request{"GET", "/v1/export", "", "admin", nil})
	d.do(a, 429, request{"GET", "/v1/events", "", "admin", nil})
	a.lists.all, a.exports.all, a.follows.all = 0, 0, 0
	d.do(a, 200, request{"DELETE", "/v1/timers?all=true", "", "admin", nil})
}

// takeOne sets a timer, takes its firing, and returns the token.
func (d *described) takeOne(a *API) string {
	d.t.Helper()
	d.do(a, 200, request{"PUT", "/v1/timers/{key}", queued, "admin", nil})
	var taken struct{ Firings []Firing }
	text := d.do(a, 200, request{"POST", "/v1/queues/{name}/take", `{"wait":"1m"}`, "admin", nil})
	require.NoError(d.t, json.Unmarshal([]byte(text), &taken))
	return taken.Firings[0].Token
}

// slow is a body whose time is over.
type slow struct{}

func (slow) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// withoutTokens has operations answer to a name that is not this machine's.
func (d *described) withoutTokens(a *API) {
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/", "/metrics"} {
		d.do(a, 403, request{"GET", path, "", "", func(r *http.Request) *http.Request {
			r.Host = "example.com"
			return r
		}})
	}
}

// unavailable has operations answer while the timers don't.
func (d *described) unavailable(a *API) {
	tokens := make(map[string]string)
	for _, path := range []string{"/v1/queues/{name}/done", "/v1/queues/{name}/fail"} {
		tokens["POST "+path] = `{"tokens":["` + d.takeOne(a) + `"]}`
	}
	require.NoError(d.t, a.Service.Close())
	d.each(func(method, path string, responses map[string]any) {
		if _, ok := responses["503"]; !ok {
			return
		}
		where := path
		if path == "/v1/timers" {
			where += "?prefix=x"
		}
		d.do(a, 503, request{method, where, cmp.Or(tokens[method+" "+path], bodies[method+" "+path]), "admin", func(r *http.Request) *http.Request {
			if !strings.HasSuffix(path, "/take") {
				return r
			}
			return gone(r)
		}})
	})
}
