package command

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tokenLine is a line of a file of tokens.
func tokenLine(name, role, token, prefix string) string {
	return fmt.Sprintf("%s %s %x %s\n", name, role, sha256.Sum256([]byte(token)), prefix)
}

// as returns the server for requests with a token.
func (s *served) as(token string) *served {
	other := *s
	other.head = http.Header{"Authorization": {"Bearer " + token}}
	return &other
}

// The description has all paths, and what answers without a token does not need one.
func TestDescription(t *testing.T) {
	s := serve(t)
	d := s.do("GET", "/openapi.json", "").json(200)
	require.Contains(t, d["openapi"], "3.1")
	for path, secured := range map[string]bool{"/healthz": false, "/readyz": false, "/openapi.json": false, "/": false,
		"/metrics": true, "/v1/timers": true, "/v1/timers/{key}": true, "/v1/timers/{key}/revive": true, "/v1/batch": true, "/v1/export": true,
		"/v1/queues/{name}/take": true, "/v1/queues/{name}/done": true, "/v1/queues/{name}/fail": true} {
		operations, ok := d["paths"].(map[string]any)[path].(map[string]any)
		require.True(t, ok, path)
		get, ok := operations["get"].(map[string]any)
		if !ok {
			get = operations["post"].(map[string]any)
		}
		require.Equal(t, secured, get["security"] != nil, path)
	}
}

func TestTokens(t *testing.T) {
	s := serve(t, "-tokens", write(t, "tokens",
		tokenLine("r", "read", "tr", "")+tokenLine("w", "write", "tw", "")+tokenLine("a", "admin", "ta", "")+tokenLine("p", "write", "tp", "p-")))
	timer := `{"in":"1h","to":{"queue":"q"}}`
	for _, path := range []string{"/v1/timers", "/v1/timers/k", "/metrics", "/v1/batch", "/nothing"} {
		a := s.do("GET", path, "")
		a.problem(401)
		require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
		s.as("nonsense").do("GET", path, "").problem(401)
		s.as("").do("GET", path, "").problem(401)
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		require.Equal(t, 200, s.do("GET", path, "").status, path)
	}
	s.as("tw").do("PUT", "/v1/timers/k", timer).json(200)
	require.Equal(t, 200, s.as("tr").do("GET", "/metrics", "").status)
	for scheme, status := range map[string]int{"bearer tr": 200, "BEARER   tr": 200, "Basic tr": 401, "tr": 401, "Bearer": 401, "Bearertr": 401} {
		other := *s
		other.head = http.Header{"Authorization": {scheme}}
		require.Equal(t, status, other.do("GET", "/v1/timers", "").status, scheme)
	}
	s.as("tp").do("GET", "/metrics", "").problem(403)  // it has the names of all queues
	s.as("tp").do("POST", "/v1/live", "").problem(403) // and this one the figures of all keys
	s.as("tr").do("GET", "/v1/timers/k", "").json(200)
	for _, c := range [][3]string{
		{"PUT", "/v1/timers/k", timer}, {"PATCH", "/v1/timers/k", `{"in":"1s"}`}, {"DELETE", "/v1/timers/k", ""},
		{"POST", "/v1/timers/k/revive", ""}, {"DELETE", "/v1/timers?prefix=k", ""}, {"POST", "/v1/batch", `{"operations":[]}`},
		{"POST", "/v1/queues/q/take", `{}`}, {"POST", "/v1/queues/q/done", `{"tokens":[]}`}, {"POST", "/v1/queues/q/fail", `{"tokens":[]}`},
	} {
		s.as("tr").do(c[0], c[1], c[2]).problem(403)
	}
	s.as("tw").do("DELETE", "/v1/timers?all=true", "").problem(403)

	p := s.as("tp")
	p.do("PUT", "/v1/timers/p-1", `{"in":"0s","to":{"queue":"q"}}`).json(200)
	p.do("PUT", "/v1/timers/k", timer).problem(403)
	p.do("GET", "/v1/timers/k", "").problem(403)
	require.Equal(t, []string{"p-1"}, keysOf(p.do("GET", "/v1/timers", "").json(200)))
	require.Equal(t, []string{"k", "p-1"}, keysOf(s.as("tr").do("GET", "/v1/timers", "").json(200)))
	p.do("GET", "/v1/timers?prefix=k", "").problem(403)
	p.do("DELETE", "/v1/timers?prefix=k", "").problem(403)
	out := p.do("POST", "/v1/batch", `{"operations":[{"op":"remove","key":"k"},{"op":"set","key":"p-2","in":"1h","to":{"queue":"q"}}]}`).json(200)
	require.Equal(t, false, out["results"].([]any)[0].(map[string]any)["ok"])
	require.Equal(t, true, out["results"].([]any)[1].(map[string]any)["ok"])
	s.as("tw").do("PUT", "/v1/timers/early", `{"in":"0s","to":{"queue":"q"}}`).json(200)
	taken := p.takeAll("q", 1)
	require.Equal(t, "p-1", taken[0]["key"], "and not that of another prefix")
	require.Empty(t, p.take("q", "{}"))
	early := s.as("tw").takeAll("q", 1)[0]
	require.Equal(t, []bool{false}, p.ends("q", "done", early["token"]))
	require.Equal(t, []bool{true}, p.ends("q", "done", taken[0]["token"]))
	require.NotContains(t, s.logs.String(), "p-1")
}

// A server with no tokens, or without TLS, does not listen to strangers.
func TestRefusesToListen(t *testing.T) {
	tokens := write(t, "tokens", tokenLine("a", "admin", "t", ""))
	for _, flags := range [][]string{
		{"-listen", "0.0.0.0:0"}, {"-listen", ":0"}, {"-listen", "[::]:0"}, {"-listen", "10.0.0.1:0"}, {"-listen", "example.com:0"},
		{"-listen", ":0", "-tokens", tokens}, {"-listen", ":0", "-behind-proxy"}, {"-listen", "nonsense"},
		{"-tokens", write(t, "tokens", "nonsense")}, {"-tokens", "/nowhere"}, {"-tls-cert", "x"}, {"-allow", "nonsense"},
		{"-secret-file", "/nowhere"}, {"-secret-dir", "/nowhere"}, {"-signing-key-file", "/nowhere"}, {"-signing-key-file", write(t, "secret", "nonsense")}, {"-secret-file", write(t, "secret", "\n")}, {"-per-host", "0"}, {"-log-level", "loud"},
		{"-nats", "nats://127.0.0.1:1"}, {"-nonsense"}, {"nonsense"},
	} {
		var errs strings.Builder
		code := run(context.Background(), append([]string{"serve", "-dir", t.TempDir()}, flags...), streams{strings.NewReader(""), io.Discard, &errs})
		require.Equal(t, usage, code, flags)
		require.Contains(t, errs.String(), "epicycle: ")
	}
}

// Without tokens, no web page of another site gets anywhere, by its own requests or by pointing its name here.
func TestOtherSites(t *testing.T) {
	s := serve(t)
	other := *s
	other.head = http.Header{"Origin": {"https://example.com"}, "Sec-Fetch-Site": {"cross-site"}}
	other.do("PUT", "/v1/timers/k", `{"in":"1h","to":{"queue":"q"}}`).problem(403)
	req, err := http.NewRequest("GET", s.url+"/v1/timers", nil)
	require.NoError(t, err)
	req.Host = "example.com"
	resp, err := testClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, 403, resp.StatusCode)
}
