package command

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nobody returns an address on which nobody listens.
func nobody(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// A webhook that fails says why, when that was, and when the next attempt is, wherever the timer is shown: also after a
// restart, and also when the timer is dead.
func TestLastError(t *testing.T) {
	dir, host := t.TempDir(), nobody(t)
	s := serve(t, "-dir", dir, "-log-level", "info", "-max-attempts", "2")
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) { // one that asks for a pause
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	begun := time.Now().Add(-time.Second)
	s.set("refused", "0s", "http://"+host+"/?token=hidden", "")
	s.set("pauses", "0s", h.URL+"/?token=hidden", "")
	dead := s.becomes("refused", hasState("dead")).json(200)
	require.Contains(t, dead["last_error"], "refused")
	require.Contains(t, dead["last_error"], host)
	require.NotContains(t, dead, "next")
	const reason = "the webhook answered 503 Service Unavailable"
	failed := func(a *answer) bool { return strings.Contains(a.body, "last_error") }
	waits := s.becomes("pauses", failed).json(200)
	require.Equal(t, reason, waits["last_error"])
	at, err := time.Parse(time.RFC3339Nano, waits["last_error_at"].(string))
	require.NoError(t, err)
	require.WithinRange(t, at, begun, time.Now().Add(time.Second))
	next, err := time.Parse(time.RFC3339Nano, waits["next"].(string))
	require.NoError(t, err)
	require.WithinRange(t, next, at.Add(time.Hour-time.Second), at.Add(time.Hour+time.Second))
	require.Len(t, waits["attempts"], 1)
	delete(waits, "attempts") // which are in memory of the server, and in the answer to GET alone
	s.showsAll(waits, host)
	s.end()
	for _, want := range []string{
		`level=WARN msg="epicycle: a webhook failed" host=` + host + " ", `attempt=1 err="` + reason + `" next=`,
	} {
		require.Contains(t, s.logs.String(), want)
	}
	for _, never := range []string{"hidden", "key="} {
		require.NotContains(t, s.logs.String(), never)
	}

	s = serve(t, "-dir", dir)
	again := s.do("GET", "/v1/timers/pauses", "").json(200)
	require.Equal(t, waits, again)
	moved := s.do("PATCH", "/v1/timers/pauses", `{"in":"2h"}`).json(200)
	require.NotContains(t, moved, "last_error")
	require.NotContains(t, moved, "last_error_at")
	require.NotContains(t, moved, "next")
}

// showsAll checks that a timer is the same wherever it is shown, and that the list of the dead says why, too.
func (s *served) showsAll(waits map[string]any, host string) {
	s.t.Helper()
	reason := waits["last_error"].(string)
	listed := s.do("GET", "/v1/timers?prefix=pauses", "").json(200)["timers"].([]any)
	require.Equal(s.t, waits, listed[0])
	require.Equal(s.t, waits, s.do("PUT", "/v1/timers/pauses?if=absent", `{"in":"1h","to":{"queue":"q"}}`).json(409)["timer"])
	line := s.do("GET", "/v1/export?prefix=pauses", "").body
	for _, field := range []string{"last_error", "last_error_at", "next"} {
		require.Contains(s.t, line, `"`+field+`":"`+waits[field].(string)+`"`)
	}
	_, got, _ := s.command("", "get", "pauses")
	require.Regexp(s.t, `next attempt +\S+ \(in 60.min\)\n`, got)
	require.Regexp(s.t, `last error +`+reason+`\n`, got)
	_, list, _ := s.command("", "ls")
	require.Regexp(s.t, `pauses +waiting +\S+ +in 60.min +1 .* `+reason+`\n`, list)
	_, list, _ = s.command("", "dead")
	require.Regexp(s.t, `refused +dead .*\(`+host+`\)\n`, list)
}

// What a worker says is the last error, cut between two characters if it is long.
func TestLastErrorOfAWorker(t *testing.T) {
	s := serve(t)
	long := strings.Repeat("x", 1023)
	s.do("PUT", "/v1/timers/k", `{"in":"0s","to":{"queue":"q"}}`).json(200)
	taken := s.do("POST", "/v1/queues/q/take", `{"wait":"1m"}`).json(200)["firings"].([]any)
	token := taken[0].(map[string]any)["token"].(string)
	s.do("POST", "/v1/queues/q/fail", `{"tokens":["`+token+`"],"error":"`+long+`ü and more"}`).json(200)
	require.Equal(t, long, s.do("GET", "/v1/timers/k", "").json(200)["last_error"])
}
