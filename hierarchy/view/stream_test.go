package view

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// countingSource counts the calls of its Stats.
type countingSource struct {
	Source
	calls atomic.Int32
}

func (c *countingSource) Stats() hierarchy.Stats { c.calls.Add(1); return c.Source.Stats() }

// watch requests events for d of the bubble's time, and returns what was sent.
func watch(t *testing.T, h http.Handler, target string, d time.Duration) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, request(http.MethodGet, target, nil).WithContext(ctx))
	return rec
}

func TestEvents(t *testing.T) {
	for target, want := range map[string]int{
		"/events":             6, // one at once, then one a second
		"/events?every=100ms": 56,
		"/events?every=250ms": 23,
		"/events?every=10s":   1,
	} {
		synctest.Test(t, func(t *testing.T) {
			w, _ := newWheel(t)
			rec := watch(t, Handler(w), target, 5*time.Second+550*time.Millisecond)
			require.Equal(t, "text/event-stream", rec.Header().Get("Content-Type"))
			require.Equal(t, "no-store, no-transform", rec.Header().Get("Cache-Control"))
			require.True(t, rec.Flushed)
			frames := strings.Split(strings.TrimSuffix(rec.Body.String(), "\n\n"), "\n\n")
			require.Equal(t, "retry: 1000", frames[0])
			require.Len(t, frames[1:], want, target)
			for _, frame := range frames[1:] {
				data, ok := strings.CutPrefix(frame, "data: ")
				require.True(t, ok, frame)
				require.NotContains(t, data, "\n")
				require.Contains(t, object(t, data), "circles")
			}
		})
	}
}

func TestInvalidIntervals(t *testing.T) {
	w, _ := newWheel(t)
	for _, every := range []string{"", "x", "1", "99ms", "10001ms", "-1s", "0s", "1h", "%3Cb%3E"} {
		r := get(t, Handler(w), http.MethodGet, "/events?every="+every)
		require.Equal(t, http.StatusBadRequest, r.StatusCode, every)
		require.Contains(t, body(t, r), "is not a duration from 100ms to 10s, such as every=250ms")
		require.Equal(t, "text/plain; charset=utf-8", r.Header.Get("Content-Type"))
	}
}

// Streams share snapshots, and no snapshot is taken while there is no stream.
func TestSnapshotsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWheel(t)
		c := &countingSource{Source: w}
		h := Handler(c)
		time.Sleep(time.Hour)
		require.Zero(t, c.calls.Load())

		var watchers sync.WaitGroup
		for range 10 {
			time.Sleep(time.Millisecond)
			watchers.Go(func() { watch(t, h, "/events?every=1s", 9500*time.Millisecond) })
		}
		watchers.Wait()
		require.EqualValues(t, 10, c.calls.Load())

		get(t, h, http.MethodGet, "/json") // always takes a new snapshot
		get(t, h, http.MethodGet, "/json")
		require.EqualValues(t, 12, c.calls.Load())
		time.Sleep(time.Hour)
		require.EqualValues(t, 12, c.calls.Load())
	})
}

// A stream over the network outlives the server's time limits, which are for requests, and
// ends when the client disconnects: TestMain finds goroutines that are left over.
func TestClientDisconnects(t *testing.T) {
	w, _ := newWheel(t)
	ended := make(chan struct{})
	h := Handler(w)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		h.ServeHTTP(w, r)
	}))
	const limit = 3 * time.Second
	server.Config.ReadTimeout, server.Config.WriteTimeout = limit, limit
	server.Start()
	defer server.Close()
	begin := time.Now()
	r, err := server.Client().Get(server.URL + "/events?every=100ms")
	require.NoError(t, err)
	lines, events := bufio.NewScanner(r.Body), 0
	for time.Since(begin) < limit+limit/4 && lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			events++
		}
	}
	require.NoError(t, lines.Err())
	require.GreaterOrEqual(t, time.Since(begin), limit+limit/4, "the stream has ended")
	require.Greater(t, events, 1)
	require.NoError(t, r.Body.Close())
	<-ended
}

// stuckWriter is a client that reads nothing: writes block until their deadline.
type stuckWriter struct {
	*httptest.ResponseRecorder
	room     int // bytes that fit into buffers on the way
	deadline time.Time
}

func (s *stuckWriter) SetWriteDeadline(t time.Time) error { s.deadline = t; return nil }

func (s *stuckWriter) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		time.Sleep(time.Until(s.deadline))
		return 0, &net.OpError{Op: "write", Err: context.DeadlineExceeded}
	}
	return len(p), nil
}

func TestStuckClientIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWheel(t)
		start := time.Now()
		to := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), room: 20_000}
		Handler(w).ServeHTTP(to, request(http.MethodGet, "/events", nil))
		require.Less(t, time.Since(start), writeTimeout+30*time.Second)
		require.GreaterOrEqual(t, time.Since(start), writeTimeout)
	})
}

// brokenWriter is a broken connection: its calls return the given errors.
type brokenWriter struct {
	*httptest.ResponseRecorder
	read, write, flush error
}

func (b *brokenWriter) SetReadDeadline(time.Time) error  { return b.read }
func (b *brokenWriter) SetWriteDeadline(time.Time) error { return b.write }
func (b *brokenWriter) FlushError() error                { return b.flush }

func TestBrokenConnection(t *testing.T) {
	w, _ := newWheel(t)
	gone := errors.New("gone")
	for _, b := range []*brokenWriter{{read: gone}, {write: gone}, {flush: gone}} {
		b.ResponseRecorder = httptest.NewRecorder()
		Handler(w).ServeHTTP(b, request(http.MethodGet, "/events", nil)) // returns
		require.Empty(t, b.Body.String())
	}
}

// onlyWriter wraps a ResponseWriter without Unwrap, as some middleware does.
type onlyWriter struct{ http.ResponseWriter }

func TestWriterThatCannotStream(t *testing.T) {
	w, _ := newWheel(t)
	rec := httptest.NewRecorder()
	Handler(w).ServeHTTP(onlyWriter{rec}, request(http.MethodGet, "/events", nil))
	require.Equal(t, http.StatusInternalServerError, rec.Code)
	require.Contains(t, rec.Body.String(), "can't send a stream")
}
