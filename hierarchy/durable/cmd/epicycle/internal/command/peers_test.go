package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// twoServers starts two that share four partitions, and speaks to them with a token.
func twoServers(t *testing.T, token string, flags ...string) (a, b *served) {
	t.Helper()
	url := natsServer(t)
	a = serve(t, append([]string{"-nats", url, "-partitions", "4", "-replicas", "1"}, flags...)...).as(token)
	b = serve(t, append([]string{"-nats", url}, flags...)...).as(token)
	share(t, a, b)
	return a, b
}

// A worker may take from any of the servers that share timers, and end what it has taken at any other.
func TestQueueOfSeveralServers(t *testing.T) {
	a, b := twoServers(t, "")
	const n = 40
	for i := range n {
		a.queue(fmt.Sprint("k", i), "0s", "mails", `,"value":"<&>"`)
	}
	for a.lane("mails")+b.lane("mails") < n {
	}
	require.Positive(t, a.lane("mails"))
	require.Positive(t, b.lane("mails"))

	require.Len(t, b.take("mails", `{"max":1}`), 1)
	keys := make(map[any]bool)
	var tokens []any
	for len(tokens) < n-1 { // without waiting
		firings := b.take("mails", `{"max":7}`)
		require.NotEmpty(t, firings)
		require.LessOrEqual(t, len(firings), 7)
		for _, f := range firings {
			require.Equal(t, "<&>", f["value"])
			require.Equal(t, 1.0, f["attempt"])
			tokens = append(tokens, f["token"])
			keys[f["key"]] = true
		}
	}
	require.Len(t, keys, n-1)
	require.Empty(t, b.take("mails", `{}`))
	require.Empty(t, a.take("mails", `{}`))
	require.Positive(t, a.count("taken"))
	require.Positive(t, b.count("taken"))

	require.NotContains(t, a.ends("others", "done", tokens...), true, "they are of another queue")
	require.NotContains(t, a.ends("mails", "done", tokens[:30]...), false)
	require.NotContains(t, a.ends("mails", "done", tokens[:30]...), true, "they have ended")
	require.NotContains(t, a.ends("mails", "fail", tokens[30:]...), false)
	require.Len(t, a.do("GET", "/v1/timers", "").json(200)["timers"], n-30)
	again := b.takeAll("mails", n-31)
	for _, f := range again {
		require.Equal(t, 2.0, f["attempt"])
	}
	strangers := []any{"AAAAAAAAAAAA.B", "aaaaaaaaaaaa.b", "A B.c", "*.c", ".c", "."}
	require.Equal(t, make([]bool, len(strangers)), a.ends("mails", "done", strangers...))
}

// lane returns how many firings of a queue wait on a server.
func (s *served) lane(queue string) int {
	n, _ := strconv.Atoi(s.metric(fmt.Sprintf("epicycle_queue_waiting{queue=%q}", queue))) // there is none without firings
	return n
}

// A worker that waits on one server gets what falls due on another. Nothing is lost if it does not wait any longer.
func TestWaitForAnotherServer(t *testing.T) {
	a, b := twoServers(t, "")
	taken := make(chan int)
	for i := range 20 {
		server := []*served{a, b}[i%2]
		go func() { taken <- len(server.take("mails", `{"max":100,"wait":"1m"}`)) }()
		a.queue(fmt.Sprint("k", i), "10ms", "mails", "")
		require.Equal(t, 1, <-taken)
	}
	for range 20 {
		a.take("others", `{"wait":"1ms"}`)
	}
	for i := range 10 {
		b.queue(fmt.Sprint("other", i), "0s", "others", "")
	}
	a.takeAll("others", 10)
}

// What one server hands out for another one is within the prefix of a token.
func TestPrefixOfAnotherServer(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte(tokenLine("all", "admin", "all", "")+tokenLine("some", "write", "some", "some-")), 0o600))
	all, b := twoServers(t, "all", "-tokens", tokens)
	some := b.as("some")
	for i := range 20 {
		all.queue(fmt.Sprint("other-", i), "0s", "q", "")
		all.queue(fmt.Sprint("some-", i), "0s", "q", "")
	}
	for _, f := range some.takeAll("q", 20) {
		require.Contains(t, f["key"], "some-")
	}
	require.Empty(t, some.take("q", `{"max":100}`))
	var others []any
	for _, f := range all.takeAll("q", 20) {
		others = append(others, f["token"])
	}
	require.NotContains(t, some.ends("q", "done", others...), true)
	require.NotContains(t, b.ends("q", "done", others...), false)
}

// The tokens of a server that has gone end what it has handed out.
func TestTokensOfAServerThatHasGone(t *testing.T) {
	a, b := twoServers(t, "")
	for i := range 10 {
		a.queue(fmt.Sprint("k", i), "0s", "q", "")
	}
	var tokens []any
	for _, f := range b.takeAll("q", 10) {
		tokens = append(tokens, f["token"])
	}
	require.Positive(t, a.count("taken"))
	a.end()
	require.Empty(t, b.take("q", `{}`), "nothing comes again")
	require.NotContains(t, b.ends("q", "done", tokens...), false)
	require.NotContains(t, b.ends("q", "done", tokens...), true)
	require.Empty(t, b.do("GET", "/v1/timers", "").json(200)["timers"])
}
