package client

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func newClient(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c, err := New(server.URL+"/", "secret", 1, nil)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestNew(t *testing.T) {
	for text, ok := range map[string]bool{
		"127.0.0.1:8421": true, "http://localhost": true, "https://timers.example.com/": true,
		"": false, "ftp://x": false, "http://": false, "://": false, "http://%zz": false,
	} {
		_, err := New(text, "", 1, nil)
		require.Equal(t, ok, err == nil, text)
	}
}

// A key arrives as it is, whatever is in it.
func TestPath(t *testing.T) {
	for _, key := range []string{"order-17", "a/b", "..", ".", "ä ö", "?x=1#y", "%2F", "a+b", "\n\x00"} {
		u, err := url.Parse("http://x" + Path(key))
		require.NoError(t, err)
		require.Equal(t, "/v1/timers/"+key, u.Path)
		require.NotContains(t, u.EscapedPath()[len("/v1/timers/"):], "/")
	}
}

func TestDo(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode([]string{r.Method, r.URL.Path, r.Header.Get("Authorization"), string(body)})
	})
	var out []string
	require.NoError(t, c.Do(t.Context(), "PUT", "/x", map[string]int{"a": 1}, &out))
	require.Equal(t, []string{"PUT", "/x", "Bearer secret", `{"a":1}`}, out)
	require.NoError(t, c.Do(t.Context(), "GET", "/x", nil, nil))
	require.Error(t, c.Do(t.Context(), "GET", "/x", nil, new(int)))
	require.Error(t, c.Do(t.Context(), "GET", "/x", make(chan int), nil))
}

// An answer that is an error is one, whatever stands before the server.
func TestProblems(t *testing.T) {
	var status int
	var body string
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	for _, one := range []struct {
		status       int
		body, detail string
	}{
		{404, `{"status":404,"detail":"there is none"}`, "there is none"},
		{502, "<html>", "the server answered 502 Bad Gateway"}, {500, "", "the server answered 500 Internal Server Error"},
		{503, `{}`, "the server answered 503 Service Unavailable"}, {304, "", "the server answered 304 Not Modified"},
	} {
		status, body = one.status, one.body
		var p *api.Problem
		require.ErrorAs(t, c.Do(t.Context(), "GET", "/x", nil, nil), &p)
		require.Equal(t, one.status, p.Status)
		require.Equal(t, one.detail, p.Detail)
	}
	c, err := New("127.0.0.1:1", "", 1, nil)
	require.NoError(t, err)
	err = c.Do(t.Context(), "GET", "/path", nil, nil)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "/path")
}

// List asks for pages until there are no more, or enough.
func TestList(t *testing.T) {
	const n = 2500
	var asked []string
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("limit"))
		from, size := 0, 0
		_ = json.Unmarshal([]byte(q.Get("after")), &from)
		_ = json.Unmarshal([]byte(q.Get("limit")), &size)
		page := api.Page{Timers: make([]api.Timer, min(size, n-from))}
		if from+size < n {
			b, _ := json.Marshal(from + size)
			page.Next = string(b)
		}
		_ = json.NewEncoder(w).Encode(page)
	})
	for limit, want := range map[int][]string{0: {"1000", "1000", "1000"}, 1: {"1"}, 1000: {"1000"}, 1001: {"1000", "1"}, 9999: {"1000", "1000", "1000"}} {
		asked = nil
		got := 0
		require.NoError(t, c.List(t.Context(), "p", "dead", limit, func(some []api.Timer) error {
			got += len(some)
			return nil
		}))
		require.Equal(t, want, asked, limit)
		if limit == 0 {
			limit = n
		}
		require.Equal(t, min(limit, n), got)
	}
	stop := errors.New("stop")
	require.ErrorIs(t, c.List(t.Context(), "", "", 0, func([]api.Timer) error { return stop }), stop)
}

// RemoveAll repeats its request until nothing is left, and tells how far it is.
func TestRemoveAll(t *testing.T) {
	answers := []api.Removed{{Removed: 5, More: true}, {Removed: 0, More: true}, {Removed: 2}}
	var asked []string
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String())
		if len(answers) == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(answers[0])
		answers = answers[1:]
	})
	var steps []int
	n, err := c.RemoveAll(t.Context(), "a b", func(n int) { steps = append(steps, n) })
	require.NoError(t, err)
	require.Equal(t, 7, n)
	require.Equal(t, []int{5, 5, 7}, steps)
	require.Equal(t, slices.Repeat([]string{"DELETE /v1/timers?prefix=a+b"}, 3), asked)
	answers, asked = []api.Removed{{Removed: 3, More: true}}, nil
	n, err = c.RemoveAll(t.Context(), "", func(int) {})
	require.Error(t, err)
	require.Equal(t, 3, n, "they are gone")
	require.Equal(t, slices.Repeat([]string{"DELETE /v1/timers?all=true"}, 2), asked)
}
