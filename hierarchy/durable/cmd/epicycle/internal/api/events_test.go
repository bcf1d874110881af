package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

// following reads the events of a server.
type following struct {
	t     *testing.T
	body  io.ReadCloser
	lines *bufio.Scanner
}

func follow(t *testing.T, url, token string) *following {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, eventType, resp.Header.Get("Content-Type"))
	f := &following{t, resp.Body, bufio.NewScanner(resp.Body)}
	require.Equal(t, ": events follow", f.line())
	require.Empty(t, f.line())
	return f
}

func (f *following) line() string {
	f.t.Helper()
	require.True(f.t, f.lines.Scan(), f.lines.Err())
	return f.lines.Text()
}

// next reads an event, which has a line for its name and one for its data.
func (f *following) next() (e Event) {
	f.t.Helper()
	kind, ok := strings.CutPrefix(f.line(), "event: ")
	require.True(f.t, ok)
	data, ok := strings.CutPrefix(f.line(), "data: ")
	require.True(f.t, ok)
	require.Empty(f.t, f.line())
	require.NoError(f.t, json.Unmarshal([]byte(data), &e))
	require.Equal(f.t, kind, e.Kind)
	return e
}

// Who follows sees what is done with timers, one by one and in batches, of the keys that the token is for. The time limits of
// other requests are none for this one, and it ends when the server does.
func TestEvents(t *testing.T) {
	a := withTokens(t, newAPI(t))
	server := httptest.NewUnstartedServer(a)
	server.Config.ReadTimeout, server.Config.WriteTimeout = 500*time.Millisecond, 500*time.Millisecond
	server.Start()
	t.Cleanup(server.Close) // after the bodies
	all, some := follow(t, server.URL+"/v1/events", "read"), follow(t, server.URL+"/v1/events", "readp-")
	time.Sleep(600 * time.Millisecond) // until these times are over
	queue := `"to":{"queue":"q"}`
	key := "p-k\nevent: x\n"
	path := "/v1/timers/p-k%0Aevent:%20x%0A"
	for _, c := range []struct{ method, path, body string }{
		{"PUT", path, `{"in":"1h",` + queue + `}`}, {"PUT", path + "?if=absent", `{"in":"1h",` + queue + `}`},
		{"PATCH", path, `{"in":"2h"}`}, {"PATCH", "/v1/timers/none", `{"in":"2h"}`}, {"POST", path + "/revive", ""}, {"DELETE", path, ""}, {"DELETE", path, ""},
		{"PUT", "/v1/timers/o", `{"in":"1h",` + queue + `}`},
		{"POST", "/v1/batch", `{"operations":[{"op":"set","key":"p-1","in":"1h",` + queue + `},{"op":"set","key":"p-1","in":"1h","if":"absent",` + queue + `},` +
			`{"op":"move","key":"p-1","in":"2h"},{"op":"remove","key":"o"},{"op":"remove","key":"o"},{"op":"set","key":"p-2","at":"2040-01-01T00:00:00Z",` + queue + `}]}`},
		{"DELETE", "/v1/timers?prefix=p-", ""}, {"PUT", "/v1/timers/p-end", `{"in":"1h",` + queue + `}`},
	} {
		a.as(t, "admin", c.method, c.path, c.body)
	}
	got := func(f *following) (all []string) {
		for {
			e := f.next()
			require.Equal(t, len(e.ID) == 32, e.ID != "", e.ID)
			require.Equal(t, e.Kind != service.EventRemoved || strings.HasPrefix(e.Key, "p-"), e.ID != "", "only a batch does not know what it removes")
			if all = append(all, e.Kind+" "+e.Key); e.Key == "p-end" {
				return all
			}
		}
	}
	want := []string{"set " + key, "moved " + key, "removed " + key, "set p-1", "moved p-1", "set p-2", "removed p-1", "removed p-2", "set p-end"}
	require.Equal(t, want, got(some))
	require.Equal(t, append(append(want[:3:3], "set o", "set p-1", "moved p-1", "removed o"), want[5:]...), got(all))
	require.Equal(t, 403, a.as(t, "readp-", "GET", "/v1/events?prefix=x", "").Code)

	some.body.Close()
	a.Service.Drain(t.Context())
	require.False(t, all.lines.Scan())
	require.NoError(t, all.lines.Err(), "the stream ends in order")
	require.Equal(t, 503, a.as(t, "admin", "GET", "/v1/events", "").Code)
	eventually(t, func() bool { return !a.Service.Followed() })
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	require.Eventually(t, f, time.Minute, time.Millisecond)
}

// A client that does not read its events holds up nobody, takes no more memory than it may, is told what it has missed
// if it reads again, and is cut off if it does not.
func TestClientThatDoesNotReadItsEvents(t *testing.T) {
	a := newAPI(t)
	server := httptest.NewUnstartedServer(a)
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	server.Start()
	t.Cleanup(server.Close) // after the bodies
	const n = 20000
	key := strings.Repeat("x", 1000)
	tell := func() {
		for range n {
			a.Service.Tell(service.EventSet, key, durable.ID{})
		}
	}
	f := follow(t, server.URL+"/v1/events", "")
	tell()
	missed, seen := 0, 0
	for missed+seen < n {
		if e := f.next(); e.Kind == EventMissed {
			require.Empty(t, e.Key)
			missed += e.Missed
		} else {
			seen++
		}
	}
	require.Equal(t, n, missed+seen)
	require.Positive(t, missed)
	a.Service.Tell(service.EventSet, "again", durable.ID{})
	require.Equal(t, "again", f.next().Key)
	f.body.Close()
	eventually(t, func() bool { return !a.Service.Followed() })

	a.follows.patience = 50 * time.Millisecond
	follow(t, server.URL+"/v1/events", "")
	eventually(t, func() bool {
		tell()
		return !a.Service.Followed()
	})
	eventually(t, func() bool {
		a.follows.mu.Lock()
		defer a.follows.mu.Unlock()
		return a.follows.all == 0
	})
}

// The events of one token leave room for those of others.
func TestTooManyFollowers(t *testing.T) {
	a := withTokens(t, newAPI(t))
	a.follows.most, a.follows.each = 3, 2
	server := httptest.NewServer(a)
	t.Cleanup(server.Close) // after the bodies
	for range 2 {
		follow(t, server.URL+"/v1/events", "read")
	}
	w := a.as(t, "read", "GET", "/v1/events", "")
	require.Equal(t, 429, w.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	last := follow(t, server.URL+"/v1/events", "write")
	require.Equal(t, 429, a.as(t, "admin", "GET", "/v1/events", "").Code)
	last.body.Close()
	eventually(t, func() bool {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("the client has left"))
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/events", nil)
		r.Header.Set("Authorization", "Bearer admin")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Code == 200
	})
}

// The attempts of a timer are in the answer to GET alone, the last one first.
func TestAttemptsInAnswers(t *testing.T) {
	a := newAPI(t)
	put := func(n int) {
		a.do(t, "PUT", "/v1/timers/k", strings.NewReader(`{"in":"0s","to":{"webhook":"http://127.0.0.1:9/"},"retry":{"attempts":`+fmt.Sprint(n)+`,"backoff":"1ms","most":"1ms"}}`))
	}
	put(7)
	var one Timer
	get := func() *Timer {
		w := a.do(t, "GET", "/v1/timers/k", http.NoBody)
		require.Equal(t, 200, w.Code)
		one = Timer{}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &one))
		return &one
	}
	eventually(t, func() bool { return get().State == "dead" })
	require.Len(t, one.Attempts, 5)
	for i, tried := range one.Attempts {
		require.Contains(t, tried.Error, "not public")
		require.Zero(t, tried.Status)
		_, err := time.ParseDuration(tried.Took)
		require.NoError(t, err)
		require.True(t, i == 0 || !tried.At.After(one.Attempts[i-1].At))
	}
	for _, path := range []string{"/v1/timers", "/v1/export"} {
		require.NotContains(t, a.do(t, "GET", path, http.NoBody).Body.String(), `"attempts":[`)
	}
	put(1)
	eventually(t, func() bool { return get().State == "dead" })
	require.Len(t, one.Attempts, 1, "it is set anew")
}
