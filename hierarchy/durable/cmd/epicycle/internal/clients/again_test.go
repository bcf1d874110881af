package clients

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// flaky is a server that fails before it answers.
type flaky struct {
	*httptest.Server
	requests chan string           // METHOD path
	answers  chan http.HandlerFunc // of the next requests
}

func newFlaky(t *testing.T, answers ...http.HandlerFunc) *flaky {
	f := &flaky{requests: make(chan string, 100), answers: make(chan http.HandlerFunc, 100)}
	for _, one := range answers {
		f.answers <- one
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that a client has left
		f.requests <- r.Method + " " + r.URL.Path
		select {
		case answer := <-f.answers:
			answer(w, r)
		default:
			fine(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// next waits for the next request, whose path must end with a text.
func (f *flaky) next(t *testing.T, end string) {
	t.Helper()
	select {
	case request := <-f.requests:
		require.True(t, strings.HasSuffix(request, end), request)
	case <-time.After(enough):
		t.Fatal("no request")
	}
}

// fine answers with all that any request expects, and fields that no client knows.
func fine(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"key":"k","value":1,"to":{"queue":"q","new":1},"timeout":"30s","due":"2030-01-01T00:00:00Z","id":"i",
		"attempt":0,"state":"waiting","new":{"a":1},"results":[{"ok":true,"new":1}],"firings":[],"timers":[],"removed":1}`))
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if len(header) > 0 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte("<html>not JSON</html>"))
	}
}

// cut ends the connection without an answer.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// silent answers nothing until the client has left.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// repeatable and fragile are requests that may be repeated though they may have taken hold, and those that may not.
var (
	set        = args{"key": "k", "in": "1h", "to": toMails}
	conditions = args{"key": "k", "in": "1h", "to": toMails, "if": "absent"}
	repeatable = map[string]args{
		"set": set, "get": {"key": "k"}, "pause": {"key": "k"}, "resume": {"key": "k"}, "move": {"key": "k", "in": "1h"}, "list": {},
		"batch": {"operations": []args{{"op": "set", "key": "k", "in": "1h", "to": toMails}}},
		"take":  {"queue": "q", "max": 1, "wait": "0s"}, "done": {"queue": "q", "tokens": []string{"a"}},
		"fail": {"queue": "q", "tokens": []string{"a"}, "error": "x"},
	}
	fragile = map[string]args{
		"set": conditions, "remove": {"key": "k"}, "revive": {"key": "k"},
		"batch": {"operations": []args{{"op": "remove", "key": "k"}}},
	}
)

// What may be repeated is repeated, after an answer that says so and after none. All else is sent once, unless the server
// says that it has done nothing.
func TestAgain(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		f := newFlaky(t)
		d := start(f.URL)
		for do, a := range repeatable {
			for _, fault := range []http.HandlerFunc{status(503), status(502), cut} {
				f.answers <- fault
				f.answers <- fault
				d.do(do, a)
				require.Len(t, f.requests, 3, do)
				drain(f.requests)
			}
		}
		for do, a := range fragile {
			for _, fault := range []http.HandlerFunc{status(503), status(504), cut} {
				f.answers <- fault
				d.fails(do, a)
				require.Len(t, f.requests, 1, do)
				drain(f.requests)
			}
			f.answers <- status(429)
			d.do(do, a)
			require.Len(t, f.requests, 2, do)
			drain(f.requests)
		}
		for _, code := range []int{400, 401, 403, 404, 413, 500} {
			f.answers <- status(code)
			require.Equal(t, code, d.fails("get", args{"key": "k"}).Status)
			require.Len(t, f.requests, 1, code)
			drain(f.requests)
		}
	})
}

func drain(c chan string) {
	for range len(c) {
		<-c
	}
}

// A request ends with the last error when it was repeated often enough.
func TestEnough(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		f := newFlaky(t, status(503), status(503), status(503), status(503), status(503))
		failure := start(f.URL).fails("get", args{"key": "k"})
		require.Equal(t, 503, failure.Status)
		require.Contains(t, failure.Detail, "503")
		require.Len(t, f.requests, 5)
	})
}

// A request that the server does not answer ends at its timeout, and is repeated if it may be.
func TestTimeout(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		f := newFlaky(t, silent, silent)
		d := start(f.URL, "2")
		require.Zero(t, d.fails("remove", args{"key": "k"}).Status)
		require.Len(t, f.requests, 1)
		require.Equal(t, "k", d.timer("get", args{"key": "k"})["key"])
		require.GreaterOrEqual(t, len(f.requests), 3)
	})
}

// A worker goes on when the server is there again.
func TestWorkAgain(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		f := newFlaky(t, status(503), cut, status(429), status(503), cut, cut, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"firings":[{"token":"t","key":"k","value":1,"due":"2030-01-01T00:00:00Z","id":"i","attempt":1,"timeout":"30s"}]}`))
		}, silent)
		d := start(f.URL)
		d.do("work", args{"queue": "q", "concurrency": 2})
		d.event("begun")
		for range 8 { // with that of the worker's other place
			f.next(t, "/take")
		}
		d.do("stop", args{})
		d.do("finish", args{"key": "k"})
		require.Nil(t, d.event("ended").Error)
		f.next(t, "/done")
		require.Empty(t, f.requests)
	})
}
