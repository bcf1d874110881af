package command

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// oddKeys are keys, and names of queues, that a path could be taken for something else with.
var oddKeys = []string{
	"/", "//", "a/b", "/a", "a/", ".", "..", "...", "./.", "../x", "/..", "%2F", "%2E", "%", "%zz", "?", "?key=x", "#", "+", " ", "&if=x",
	"revive", "a/revive", "\x00", "\n", "ä😀", "\u202e", "v1", "take", strings.Repeat("/", 250), strings.Repeat(".", 250),
}

// jsonOf returns a value as JSON.
func jsonOf(t testing.TB, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSpace(b.String())
}

// encoded encodes a text so that nothing in it has a meaning in a path.
func encoded(text string) string {
	return strings.NewReplacer("+", "%20", ".", "%2E").Replace(url.QueryEscape(text))
}

// Each key and each queue that can be named in a body can be named in a path.
func TestOddKeys(t *testing.T) {
	s := serve(t)
	for _, key := range oddKeys {
		path := "/v1/timers/" + encoded(key)
		op := map[string]any{"op": "set", "key": key, "in": "1h", "to": map[string]string{"queue": key}}
		s.do("POST", "/v1/batch", jsonOf(t, map[string]any{"operations": []any{op}})).json(200)
		require.Equal(t, key, s.do("GET", path, "").json(200)["key"])
		require.Equal(t, key, s.do("PATCH", path, `{"in":"0s"}`).json(200)["key"])
		f := s.takeAll(encoded(key), 1)[0]
		require.Equal(t, key, f["key"])
		require.Equal(t, []bool{true}, s.ends(encoded(key), "done", f["token"]))
		s.do("GET", path, "").problem(404)
		require.Equal(t, key, s.do("PUT", path+"?if=absent", `{"in":"1h","to":{"queue":"q"}}`).json(200)["key"])
		require.Contains(t, s.do("POST", path+"/revive", "").problem(404), "dead")
		require.Equal(t, key, s.do("DELETE", path, "").json(200)["key"])
	}
	for _, path := range []string{"/v1/timers/", "/v1/timers/?key=", "/v1/timers/?if=absent"} {
		require.Contains(t, s.do("PUT", path, `{"in":"1h","to":{"queue":"q"}}`).problem(400), "empty")
	}
	for _, path := range []string{"/v1/timers/a/b", "/v1/timers//", "/v1/timers/a/../b", "/v1//timers", "/v1/queues//take", "/v1/queues/%2Ftake"} {
		a := s.do("GET", path, "")
		require.Contains(t, []int{404, 405}, a.status, path)
		require.Empty(t, a.header.Get("Location"))
	}
	require.Empty(t, s.do("GET", "/v1/timers", "").json(200)["timers"])
}

// Browsers can't send dots alone as a segment of a path, so a key may be in the query.
func TestKeyInTheQuery(t *testing.T) {
	s := serve(t)
	for _, key := range []string{".", "..", "/", "a b"} {
		query := "key=" + url.QueryEscape(key)
		require.Equal(t, key, s.do("PUT", "/v1/timers/?"+query+"&if=absent", `{"in":"1h","to":{"queue":"q"}}`).json(200)["key"])
		s.do("PUT", "/v1/timers/?"+query+"&if=absent", `{"in":"1h","to":{"queue":"q"}}`).problem(409)
		require.Equal(t, key, s.do("GET", "/v1/timers/"+encoded(key), "").json(200)["key"])
		require.Equal(t, key, s.do("GET", "/v1/timers/?"+query, "").json(200)["key"])
		require.Contains(t, s.do("POST", "/v1/timers/revive?"+query, "").problem(404), "dead")
		require.Equal(t, key, s.do("DELETE", "/v1/timers/?"+query, "").json(200)["key"])
	}
	s.do("PUT", "/v1/timers/revive", `{"in":"1h","to":{"queue":"q"}}`).json(200)
	require.Equal(t, "revive", s.do("GET", "/v1/timers/revive", "").json(200)["key"])
}

// The command line reaches them, too.
func TestOddKeysOfCommands(t *testing.T) {
	s := serve(t)
	for _, key := range oddKeys {
		code, _, errs := s.command("", "set", "-in", "1h", "-queue", key, key)
		require.Equal(t, ok, code, "%q: %s", key, errs)
		for _, args := range [][]string{{"get"}, {"move", "-in", "0s"}, {"take", "-wait", "1m"}} {
			code, out, errs := s.command("", append(args, "-json", key)...)
			require.Equal(t, ok, code, "%s %q: %s", args, key, errs)
			require.Contains(t, out, `"key":`+jsonOf(t, key))
		}
		code, _, errs = s.command("", "rm", key)
		require.Equal(t, ok, code, "%q: %s", key, errs)
	}
}
