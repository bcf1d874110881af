package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// limit changes a limit.
func (s *served) limit(path, body string) map[string]any {
	s.t.Helper()
	return s.do("PATCH", "/v1/limits/"+path, body).json(200)
}

// waits waits until so many timers wait because of a limit.
func (s *served) waits(path string, n int) {
	s.t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		l := s.do("GET", "/v1/limits/"+path, "").json(200)
		if l["waiting"] == float64(n) {
			return
		}
		require.Less(s.t, time.Since(begun), enough, l)
	}
}

// What is paused is paused after a restart, says so, and goes on when it is resumed. All else goes on meanwhile.
func TestPause(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "-dir", dir)
	h := newHook(t, nil)
	host := strings.TrimPrefix(h.URL, "http://")
	require.Equal(t, map[string]any{"kind": "queue", "name": "mails", "paused": true, "waiting": 0.0}, s.limit("queue/mails", `{"paused":true}`))
	s.limit("host/"+host, `{"paused":true}`)
	s.limit("prefix/a%2F%2E", `{"paused":true,"rate":1000,"at_once":7}`)
	s.set("early", "0s", h.URL, "")
	s.waits("host/"+host, 1)
	s.end()

	s = serve(t, "-dir", dir)
	s.waits("host/"+host, 1)
	s.do("DELETE", "/v1/timers/early", "").json(200)
	for i := range 3 {
		s.queue(fmt.Sprint("m", i), "0s", "mails", "")
		s.set(fmt.Sprint("w", i), "0s", h.URL, "")
		s.queue(fmt.Sprint("a%2F%2E", i), "0s", "others", "")
		s.queue(fmt.Sprint("a", i), "0s", "others", "")
	}
	require.Len(t, s.takeAll("others", 3), 3)
	for path, key := range map[string]string{"queue/mails": "m1", "host/" + host: "w1", "prefix/a%2F%2E": "a%2F%2E1"} {
		s.waits(path, 3)
		by := s.do("GET", "/v1/timers/"+key, "").json(200)["limited_by"]
		require.Equal(t, strings.NewReplacer("/", " ", "%2F", "/", "%2E", ".").Replace(path), by)
	}
	require.NotContains(t, s.do("GET", "/v1/timers/a1", "").body, "limited_by")
	require.Empty(t, s.take("mails", `{"max":10}`))
	metrics := s.do("GET", "/metrics", "").body
	require.Contains(t, metrics, `epicycle_limit_waiting{kind="queue",name="mails"} 3`)
	require.Contains(t, metrics, `epicycle_limit_paused{kind="prefix",name="a/."} 1`)
	require.Len(t, s.do("GET", "/v1/limits", "").json(200)["limits"], 3)
	require.Empty(t, h.calls)

	s.limit("queue/mails", `{"paused":false}`)
	require.Len(t, s.takeAll("mails", 3), 3)
	s.do("GET", "/v1/limits/queue/mails", "").problem(404)
	s.do("DELETE", "/v1/limits/host/"+host, "").json(200)
	for range 3 {
		h.next(t)
	}
	require.Equal(t, 7.0, s.limit("prefix/a%2F%2E", `{"paused":false,"rate":0}`)["at_once"])
	require.Len(t, s.takeAll("others", 3), 3)
	require.Len(t, s.do("GET", "/v1/limits", "").json(200)["limits"], 1)
}

// A worker that waits gets what a limit lets it have, and a worker that ends a firing lets the next one begin.
func TestLimitOfQueue(t *testing.T) {
	s := serve(t)
	s.limit("queue/q", `{"at_once":2}`)
	for i := range 5 {
		s.queue(fmt.Sprint(i), "0s", "q", "")
	}
	taken := s.takeAll("q", 2)
	require.Empty(t, s.take("q", `{"max":5}`))
	s.waits("queue/q", 3)
	got := make(chan []map[string]any)
	go func() { got <- s.take("q", `{"max":5,"wait":"1m"}`) }()
	time.Sleep(10 * time.Millisecond) // if it does not wait yet, it takes at once
	s.ends("q", "done", taken[0]["token"])
	require.Len(t, <-got, 1)
	s.ends("q", "fail", taken[1]["token"])
	require.Len(t, s.takeAll("q", 1), 1)
	s.limit("queue/q", `{"at_once":0}`)
	require.Len(t, s.takeAll("q", 1), 1)
}

// A limit of a host is for its webhooks, at the rate that holds now. That they are made on time is tested in virtual time.
func TestLimitOfHost(t *testing.T) {
	s := serve(t)
	h := newHook(t, nil)
	s.limit("host/127.0.0.1", `{"rate":0.001}`)
	for i := range 30 {
		s.set(fmt.Sprint(i), "0s", h.URL, "")
	}
	h.next(t)
	s.waits("host/127.0.0.1", 29)
	require.Empty(t, h.calls)
	s.limit("host/127.0.0.1", `{"rate":1000}`)
	for range 29 {
		h.next(t)
	}
}

func TestLimitsThatAreWrong(t *testing.T) {
	s := serve(t)
	for body, detail := range map[string]string{
		`{}`: "there must be paused, rate or at_once", `{"rate":-1}`: "rate", `{"at_once":-1}`: "at_once", `{"rate":1e9}`: "rate",
		`{"pause":true}`: "unknown field", `{"rate":"1"}`: "rate",
	} {
		require.Contains(t, s.do("PATCH", "/v1/limits/queue/q", body).problem(400), detail)
	}
	s.do("PATCH", "/v1/limits/queues/q", `{"paused":true}`).problem(400)
	s.do("PATCH", "/v1/limits/host/https:%2F%2Fexample.com", `{"paused":true}`).problem(400)
	s.do("GET", "/v1/limits/queue/q", "").problem(404)
	s.do("DELETE", "/v1/limits/queue/q", "").problem(404)
	s.do("PUT", "/v1/limits/queue/q", `{}`).problem(405)
}

// Limits are for admins, and whoever has a prefix has the limits of prefixes with that one.
func TestLimitsNeedAdmin(t *testing.T) {
	s := serve(t, "-tokens", write(t, "tokens",
		tokenLine("r", "read", "tr", "")+tokenLine("w", "write", "tw", "")+tokenLine("a", "admin", "ta", "")+tokenLine("p", "admin", "tp", "p/")))
	pause := `{"paused":true}`
	s.do("GET", "/v1/limits", "").problem(401)
	for _, token := range []string{"tr", "tw"} {
		s.as(token).do("PATCH", "/v1/limits/queue/q", pause).problem(403)
		s.as(token).do("DELETE", "/v1/limits/queue/q", "").problem(403)
	}
	s.as("ta").limit("queue/q", pause)
	s.as("ta").limit("prefix/p", pause)
	s.as("tp").limit("prefix/p%2F1", pause)
	s.as("tp").do("PATCH", "/v1/limits/prefix/p", pause).problem(403)
	s.as("tp").do("PATCH", "/v1/limits/queue/q", pause).problem(403)
	s.as("tp").do("GET", "/v1/limits/queue/q", "").problem(403)
	require.Len(t, s.as("tp").do("GET", "/v1/limits", "").json(200)["limits"], 2)
	require.Len(t, s.as("tr").do("GET", "/v1/limits", "").json(200)["limits"], 3)
	s.as("tr").do("GET", "/v1/limits/queue/q", "").json(200)
}

func TestLimitCommands(t *testing.T) {
	s := serve(t)
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := s.command("", args...)
		require.Equal(t, want, code, "%q: %s%s", args, out, errs)
		return out
	}
	require.Contains(t, run(ok, "pause", "queue", "mails"), "paused")
	require.Contains(t, run(ok, "limit", "prefix", "tenant.7/", "-rate", "0.5", "-at-once", "3"), "0.5/s")
	run(ok, "limit", "prefix", "tenant.7/", "-at-once", "0")
	require.Regexp(t, `(?s)queue +mails +paused +- +- +0\nprefix +tenant.7/ +- +0.5/s +- +0\n`, run(ok, "limits"))
	require.NotContains(t, run(ok, "resume", "queue", "mails"), "paused")
	require.JSONEq(t, `{"limits":[{"kind":"prefix","name":"tenant.7/","paused":false,"rate":0.5,"waiting":0}]}`, run(ok, "limits", "-json"))
	run(ok, "pause", "queue", "q")
	s.queue("k", "0s", "q", "")
	s.waits("queue/q", 1)
	require.Regexp(t, `waits for +queue q\n`, run(ok, "get", "k"))
	run(usage, "pause", "mails")
	run(usage, "pause", "topic", "mails")
	run(usage, "limit", "queue", "mails")
	run(usage, "limit", "queue", "mails", "-rate", "-1")
}
