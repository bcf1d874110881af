package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands do what they say, print tables or JSON, and exit as documented.
func TestCommands(t *testing.T) {
	s := serve(t)
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := s.command("", args...)
		require.Equal(t, want, code, "%q: %s%s", args, out, errs)
		if want != ok {
			require.Contains(t, errs, "epicycle: ")
		}
		return out
	}
	readJSON := func(text string) (v map[string]any) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(text), &v), text)
		return v
	}
	require.Contains(t, run(ok, "set", "order-17", "-in", "30m", "-value", `{"id":17}`, "-webhook", "http://127.0.0.1:9000/cancel"), "waiting")
	require.Equal(t, "order-18", readJSON(run(ok, "set", "order-18", "-at=2040-01-01T00:00:00Z", "-queue", "mails", "-json"))["key"])
	require.Equal(t, "@daily", readJSON(run(ok, "set", "night", "-schedule", "@daily", "-queue", "reports", "-json"))["schedule"])
	require.NotEmpty(t, readJSON(run(ok, "set", "search", "-debounce", "5s", "-longest", "1m", "-queue", "q", "-json"))["due"])
	run(ok, "rm", "search")
	require.Equal(t, "FROM=2040-01-31T12:00:00Z UNTIL=2041-01-01T00:00:00Z SPREAD=12m3s @daily", readJSON(run(ok, "set", "customer-17", "-schedule", "@daily", "-spread", "1h",
		"-from", "2040-01-31T12:00:00Z", "-until", "2041-01-01T00:00:00Z", "-queue", "reports", "-json"))["schedule"])
	run(ok, "rm", "customer-17")
	run(failed, "set", "order-17", "-in", "30m", "-queue", "q", "-if", "absent")
	for _, args := range [][]string{
		{"set"}, {"set", "k"}, {"set", "k", "-debounce", "1s", "-queue", "q"}, {"set", "k", "-longest", "1s", "-queue", "q"}, {"set", "k", "-in", "1h"}, {"set", "k", "-in", "1h", "-queue", "q", "-value", "text"},
		{"set", "k", "-in", "1h", "-queue", "q", "-nonsense"}, {"nonsense"}, {"rm"}, {"rm", "k", "-prefix", "k"}, {"ls", "x"}, {"ls", "-limit", "-1"},
		{"move", "order-17"}, {"take"}, {"done", "q"}, {"top", "-every", "1ms"},
	} {
		run(usage, args...)
	}
	require.Contains(t, run(ok, "get", "order-17"), `{"id":17}`)
	require.Equal(t, "order-17", readJSON(run(ok, "get", "order-17", "-json"))["key"])
	run(notFound, "get", "none")
	run(notFound, "rm", "none")
	run(notFound, "revive", "order-17")
	run(notFound, "move", "none", "-in", "1s")
	run(ok, "move", "order-17", "-in", "1h")
	require.Contains(t, run(ok, "pause", "timer", "night"), "paused")
	require.Contains(t, run(ok, "ls", "-prefix", "night"), "paused")
	require.Len(t, readJSON(run(ok, "ls", "-state", "paused", "-json"))["timers"], 1)
	require.NotContains(t, run(ok, "resume", "timer", "night"), "paused")
	run(notFound, "pause", "timer", "none")
	run(failed, "pause", "timer", "order-17")
	list := run(ok, "ls", "-prefix", "order-")
	require.Less(t, strings.Index(list, "order-17"), strings.Index(list, "order-18"))
	require.Len(t, readJSON(run(ok, "ls", "-json"))["timers"], 3)
	require.Len(t, readJSON(run(ok, "ls", "-json", "-limit", "1"))["timers"], 1)
	require.Empty(t, readJSON(run(ok, "dead", "-json"))["timers"])

	run(ok, "set", "m", "-in", "0s", "-queue", "work", "-value", `"v"`)
	firings := readJSON(run(ok, "take", "work", "-wait", "30s", "-json"))["firings"].([]any)
	token := firings[0].(map[string]any)["token"].(string)
	require.Contains(t, run(ok, "done", "work", token), "true")
	run(notFound, "done", "work", token)
	require.Contains(t, run(ok, "take", "work"), "TOKEN")
	require.Contains(t, run(ok, "top", "-count", "2", "-every", "100ms"), "pending")

	require.Equal(t, "order-18", readJSON(run(ok, "rm", "order-18", "-json"))["key"])
	run(usage, "rm", "-prefix", "order-") // nobody says yes
	require.Contains(t, run(ok, "get", "order-17"), "order-17")
	code, out, errs := s.command("y\n", "rm", "-prefix", "order-")
	require.Equal(t, ok, code)
	require.Contains(t, errs, `"order-"`)
	require.Equal(t, "1 removed\n", out)
	require.Equal(t, 1.0, readJSON(run(ok, "rm", "-all", "-yes", "-json"))["removed"])

	s.end()
	run(failed, "ls")
	require.Contains(t, run2(t, "version"), "epicycle ")
	require.Contains(t, run2(t, "completion", "bash"), "epicycle")
	require.Contains(t, run2(t, "serve", "-help"), "-dir")
}

// run2 runs a command that needs no server.
func run2(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	require.Equal(t, ok, run(t.Context(), args, streams{strings.NewReader(""), &out, &out}))
	return out.String()
}
