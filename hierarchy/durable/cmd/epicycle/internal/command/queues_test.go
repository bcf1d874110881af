package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// queue sets a timer that goes to a queue.
func (s *served) queue(key, in, queue, more string) {
	s.t.Helper()
	s.do("PUT", "/v1/timers/"+key, fmt.Sprintf(`{"in":%q,"to":{"queue":%q}%s}`, in, queue, more)).json(200)
}

// take takes from a queue, and returns the firings.
func (s *served) take(queue, body string) (firings []map[string]any) {
	s.t.Helper()
	for _, f := range s.do("POST", "/v1/queues/"+queue+"/take", body).json(200)["firings"].([]any) {
		firings = append(firings, f.(map[string]any))
	}
	return firings
}

// takeAll takes until there are n.
func (s *served) takeAll(queue string, n int) (firings []map[string]any) {
	s.t.Helper()
	for len(firings) < n {
		some := s.take(queue, fmt.Sprintf(`{"max":%d,"wait":"30s"}`, n-len(firings)))
		require.NotEmpty(s.t, some)
		firings = append(firings, some...)
	}
	return firings
}

// takeSorted takes n when all of them wait: else the first ones may be taken before one that was due earlier has come.
func (s *served) takeSorted(queue string, n int) []map[string]any {
	s.t.Helper()
	waiting := fmt.Sprintf("\nepicycle_queue_waiting{queue=%q} %d\n", queue, n)
	for begun := time.Now(); !strings.Contains(s.do("GET", "/metrics", "").body, waiting); time.Sleep(5 * time.Millisecond) {
		require.Less(s.t, time.Since(begun), enough)
	}
	return s.takeAll(queue, n)
}

// ends sends tokens, and returns which were ok.
func (s *served) ends(queue, what string, tokens ...any) (oks []bool) {
	s.t.Helper()
	text := fmt.Sprintf("%q", tokens)
	for _, r := range s.do("POST", "/v1/queues/"+queue+"/"+what, `{"tokens":`+strings.ReplaceAll(text, " ", ",")+`}`).json(200)["results"].([]any) {
		oks = append(oks, r.(map[string]any)["ok"].(bool))
	}
	return oks
}

// Firings are taken in the order in which they were due, and end with done.
func TestQueue(t *testing.T) {
	s := serve(t)
	begun := time.Now()
	for i := 4; i >= 0; i-- {
		at := begun.Add(time.Duration(i) * time.Microsecond).Format(time.RFC3339Nano)
		s.do("PUT", fmt.Sprintf("/v1/timers/%d", i), fmt.Sprintf(`{"at":%q,"to":{"queue":"mails"},"value":{"n":1}}`, at)).json(200)
	}
	s.queue("other", "0s", "others", "")
	require.Len(t, s.takeAll("others", 1), 1)
	firings := s.takeSorted("mails", 5)
	var keys []string
	var tokens []any
	for _, f := range firings {
		keys = append(keys, f["key"].(string))
		tokens = append(tokens, f["token"])
		require.Equal(t, map[string]any{"n": 1.0}, f["value"])
		require.Equal(t, 1.0, f["attempt"])
		require.Len(t, f["id"], 32)
		_, err := time.Parse(time.RFC3339Nano, f["due"].(string))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, keys)
	require.Empty(t, s.take("mails", `{}`))
	require.Equal(t, "running", s.do("GET", "/v1/timers/0", "").json(200)["state"])
	require.Equal(t, []bool{false}, s.ends("others", "done", tokens[0]), "the token is of another queue")
	require.Equal(t, []bool{true, true, true, true, true, false}, s.ends("mails", "done", append(tokens, "nonsense")...))
	require.Equal(t, []bool{false}, s.ends("mails", "done", tokens[0]), "its attempt has ended")
	require.Equal(t, []string{"other"}, keysOf(s.do("GET", "/v1/timers", "").json(200)))
}

// What has failed, or is not done within its timeout, comes again as another attempt.
func TestQueueFails(t *testing.T) {
	s := serve(t)
	s.queue("k", "0s", "mails", `,"timeout":"20ms"`)
	first := s.takeAll("mails", 1)[0]
	s.becomes("k", hasState("waiting"))
	require.Equal(t, []bool{false}, s.ends("mails", "done", first["token"]), "it has timed out")
	second := s.takeAll("mails", 1)[0]
	require.Equal(t, 2.0, second["attempt"])
	require.Equal(t, first["id"], second["id"])

	s.queue("f", "0s", "others", "") // in mails the first one comes again and again
	f := s.takeAll("others", 1)[0]
	require.Equal(t, []bool{true}, s.ends("others", "fail", f["token"]))
	s.becomes("f", hasState("waiting"))
	require.Equal(t, []bool{false}, s.ends("others", "fail", f["token"]))
}

// take waits for the first firing, and answers nothing after wait.
func TestQueueWait(t *testing.T) {
	s := serve(t)
	begun := time.Now()
	require.Empty(t, s.take("mails", `{"max":3,"wait":"50ms"}`))
	require.GreaterOrEqual(t, time.Since(begun), 50*time.Millisecond)
	taken := make(chan int, 10)
	for range 3 {
		go func() { taken <- len(s.take("mails", `{"wait":"1m"}`)) }()
	}
	for i := range 3 {
		s.queue(fmt.Sprint(i), "10ms", "mails", "")
	}
	for range 3 {
		require.Equal(t, 1, <-taken)
	}
}

// What was not taken, and what was taken and is not done, is there after a kill -9, and no kill counts as an attempt.
func TestQueueSurvives(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		p := startProcess(t, "-dir", dir, "-max-attempts", "2")
		if i == 0 {
			for k := range 10 {
				p.queue(fmt.Sprint(k), fmt.Sprintf("%dms", k), "mails", "")
			}
		}
		for k, f := range p.takeSorted("mails", 10)[:5] {
			require.Equal(t, fmt.Sprint(k), f["key"])
			require.Equal(t, 1.0, f["attempt"])
		}
		require.NoError(t, p.cmd.Process.Kill())
		<-p.code
	}
}

// Ten thousand firings can be taken at once, and done at once.
func TestQueueMany(t *testing.T) {
	s := serve(t)
	const n = 10000
	var ops []string
	for i := range n {
		ops = append(ops, fmt.Sprintf(`{"op":"set","key":"%d","in":"0s","to":{"queue":"q"},"timeout":"10m"}`, i))
	}
	s.do("POST", "/v1/batch", `{"operations":[`+strings.Join(ops, ",")+`]}`).json(200)
	var tokens []any
	for _, f := range s.takeAll("q", n) {
		tokens = append(tokens, f["token"])
	}
	require.Contains(t, s.do("GET", "/metrics", "").body, "epicycle_taken 10000\n")
	for _, ended := range s.ends("q", "done", tokens...) {
		require.True(t, ended)
	}
	require.Empty(t, s.do("GET", "/v1/timers", "").json(200)["timers"])
}
