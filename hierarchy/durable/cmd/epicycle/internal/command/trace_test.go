package command

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// traceparent is the example of the specification.
const (
	traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traceID     = "0af7651916cd43dd8448eb211c80319c"
)

// with returns the server for requests with a header.
func (s *served) with(name, value string) *served {
	other := *s
	other.head = http.Header{name: {value}}
	return &other
}

// Attempts are in the trace of the request that has set their timer, after a restart and in another server, too, each in
// a span of its own, which the log names.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int32
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	s := serve(t, "-dir", dir)
	from := s.with("Traceparent", traceparent)
	from.do("PUT", "/v1/timers/fails", `{"in":"0s","to":{"webhook":"`+h.URL+`"}}`).json(200)
	spanOf := func(text string) string {
		t.Helper()
		require.Regexp(t, "^00-"+traceID+"-[0-9a-f]{16}-01$", text)
		return strings.Split(text, "-")[2]
	}
	first, second := spanOf(h.next(t).header.Get("traceparent")), spanOf(h.next(t).header.Get("traceparent"))
	require.NotEqual(t, first, second)
	require.NotContains(t, []string{first, second}, "b7ad6b7169203331", "the caller's own span")
	s.becomes("fails", func(a *answer) bool { return a.status == 404 })
	require.Contains(t, s.logs.String(), "trace_id="+traceID+" span_id="+first)

	const queued = `"in":"0s","to":{"queue":"q"}`
	from.do("PUT", "/v1/timers/put", "{"+queued+"}").json(200)
	from.do("POST", "/v1/batch", `{"operations":[{"op":"set","key":"batch",`+queued+`}]}`).json(200)
	from.do("PUT", "/v1/timers/moved", `{"in":"1h","to":{"queue":"q"}}`).json(200)
	s.do("PATCH", "/v1/timers/moved", `{"in":"0s"}`).json(200)
	s.with("Traceparent", traceparent+"-").do("PUT", "/v1/timers/invalid", "{"+queued+"}").json(200)
	from.do("PUT", "/v1/timers/replaced", "{"+queued+"}").json(200)
	s.do("PUT", "/v1/timers/replaced", "{"+queued+"}").json(200)
	exported := s.do("GET", "/v1/export", "").body
	s.end()

	taken := func(s *served) map[string]string {
		all := make(map[string]string)
		for len(all) < 5 {
			for _, f := range s.do("POST", "/v1/queues/q/take", `{"max":10,"wait":"20s"}`).json(200)["firings"].([]any) {
				text, _ := f.(map[string]any)["traceparent"].(string)
				all[f.(map[string]any)["key"].(string)] = text
			}
		}
		return all
	}
	here := taken(serve(t, "-dir", dir))
	spans := map[string]bool{first: true, second: true}
	for _, key := range []string{"put", "batch", "moved"} {
		span := spanOf(here[key])
		require.False(t, spans[span])
		spans[span] = true
	}
	require.Empty(t, here["invalid"])
	require.Empty(t, here["replaced"])
	other := serve(t)
	other.do("POST", "/v1/import", exported).json(200)
	require.Equal(t, here, taken(other))
}
