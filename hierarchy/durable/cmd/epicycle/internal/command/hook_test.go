package command

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// A webhook is sent as its timer has it, with the signatures by the tenant's secret and by the key of the server, and
// nothing that was logged has a value of its headers.
func TestWebhookOfItsOwnKind(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop"), []byte("the secret of shop"), 0o600))
	var out strings.Builder
	require.Equal(t, ok, run(t.Context(), []string{"secret", "-ed25519"}, streams{strings.NewReader(""), &out, &out}))
	_, public, _ := strings.Cut(out.String(), "whpk_")
	public, _, _ = strings.Cut(public, "\n")
	s := serve(t, "-dir", t.TempDir(), "-secret-dir", dir, "-secret-file", write(t, "secret", "that of the server"), "-signing-key-file", write(t, "signing", out.String()))
	refuse := make(chan bool, 100)
	methods := make(chan string, 100)
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		if methods <- r.Method; <-refuse {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	refuse <- true
	refuse <- false
	code, shown, errs := s.command("", "set", "k", "-in", "0s", "-webhook", h.URL, "-method", "PUT", "-header", "Authorization: Bearer hidden",
		"-header", "X-A:  b c ", "-secret", "shop", "-value", `{"id":17}`, "-attempts", "2", "-backoff", "1ms", "-most", "2ms")
	require.Equal(t, ok, code, errs)
	for _, want := range []string{`method +PUT\n`, `headers +Authorization, X-A\n`, `secret +shop\n`, `retry +attempts 2, backoff 1ms, most 2ms\n`} {
		require.Regexp(t, want, shown)
	}
	require.NotContains(t, shown, "hidden")
	for attempt := 1; attempt <= 2; attempt++ {
		c := h.next(t)
		require.Equal(t, "PUT", <-methods)
		require.Equal(t, `{"id":17}`, c.body)
		require.Equal(t, "Bearer hidden", c.header.Get("Authorization"))
		require.Equal(t, "b c", c.header.Get("X-A"))
		require.Equal(t, fmt.Sprint(attempt), c.header.Get("epicycle-attempt"))
		signatures := strings.Fields(c.header.Get("webhook-signature"))
		require.Len(t, signatures, 2)
		key, err := standardwebhooks.NewWebhookRaw([]byte("the secret of shop"))
		require.NoError(t, err)
		require.NoError(t, key.Verify([]byte(c.body), c.header))
		open, err := base64.StdEncoding.DecodeString(public)
		require.NoError(t, err)
		signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signatures[1], "v1a,"))
		require.NoError(t, err)
		text := c.header.Get("webhook-id") + "." + c.header.Get("webhook-timestamp") + "." + c.body
		require.True(t, ed25519.Verify(open, []byte(text), signature))
	}
	s.becomes("k", gone)
	require.Contains(t, s.logs.String(), "401 Unauthorized")
	require.NotContains(t, s.logs.String(), "hidden")
}

// A timer is dead after as many attempts as it has itself, more or fewer than those of the server, wherever it goes.
func TestRetryOfATimer(t *testing.T) {
	s := serve(t, "-max-attempts", "2")
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for key, attempts := range map[string]int{"fewer": 1, "more": 20, "server": 0} {
		more := `,"retry":{"backoff":"1ms","most":"1ms"}`
		if attempts > 0 {
			more = fmt.Sprintf(`,"retry":{"attempts":%d,"backoff":"1ms","most":"1ms"}`, attempts)
		} else {
			attempts = 2
		}
		s.set(key, "0s", h.URL, more)
		dead := s.becomes(key, hasState("dead")).json(200)
		require.EqualValues(t, attempts, dead["attempt"])
		for n := 1; n <= attempts; n++ {
			require.Equal(t, fmt.Sprint(n), h.next(t).header.Get("epicycle-attempt"))
		}
	}
	require.Empty(t, h.calls)

	s.do("PUT", "/v1/timers/q", `{"in":"0s","to":{"queue":"q"},"timeout":"50ms","retry":{"attempts":3,"backoff":"1ms","most":"1ms"}}`).json(200)
	token := s.takeAll("q", 1)[0]["token"]
	require.Equal(t, []bool{true}, s.ends("q", "fail", token))
	for range 2 { // which nobody ends
		s.takeAll("q", 1)
	}
	require.EqualValues(t, 3, s.becomes("q", hasState("dead")).json(200)["attempt"])

	runs := `{"schedule":"@every 50ms","to":{"webhook":"` + h.URL + `"},"retry":{"attempts":1}}`
	s.do("PUT", "/v1/timers/runs", runs).json(200)
	for range 3 { // a run that is not tried again is no end of its schedule
		require.Equal(t, "1", h.next(t).header.Get("epicycle-attempt"))
	}
	s.do("DELETE", "/v1/timers/runs", "").json(200)
}

// What a worker tells any of the servers ends as the timer has it, whichever of them owns the timer.
func TestRetryAtAnotherServer(t *testing.T) {
	a, b := twoServers(t, "")
	for i := range 10 {
		a.do("PUT", fmt.Sprint("/v1/timers/k", i), `{"in":"0s","to":{"queue":"q"},"retry":{"attempts":2,"backoff":"1ms","most":"1ms"}}`).json(200)
	}
	for range 2 {
		var tokens []any
		for _, f := range b.takeAll("q", 10) {
			tokens = append(tokens, f["token"])
		}
		require.NotContains(t, a.ends("q", "fail", tokens...), false)
	}
	require.Len(t, a.do("GET", "/v1/timers?state=dead", "").json(200)["timers"], 10)
}

// SIGHUP has the secrets read again, so that a new tenant needs no restart, and what is wrong with them changes nothing.
func TestSecretsAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, "-dir", t.TempDir(), "-secret-dir", dir)
	h := newHook(t, nil)
	body := `{"in":"0s","to":{"webhook":"` + h.URL + `","secret":"new"}}`
	require.Contains(t, p.do("PUT", "/v1/timers/k", body).problem(400), "no secret with this name")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("a secret"), 0o600))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	for begun := time.Now(); p.do("PUT", "/v1/timers/k", body).status != 200; {
		require.Less(t, time.Since(begun), enough)
	}
	require.NotEmpty(t, h.next(t).header.Get("webhook-signature"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad"), nil, 0o600))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	for begun := time.Now(); !strings.Contains(p.logs.String(), "flag=-secret-dir err=\"bad: there is no secret\""); {
		require.Less(t, time.Since(begun), enough)
		p.do("PUT", "/v1/timers/k", body).json(200)
	}
}

// The flags of set are checked, and the value of a header is never in an error.
func TestHookFlags(t *testing.T) {
	s := serve(t)
	for _, args := range [][]string{
		{"-header", "hidden"}, {"-header", "A: hidden", "-header", "A: hidden"}, {"-header", "Host: hidden"}, {"-header", "A: hid\nden"},
		{"-method", "HEAD"}, {"-secret", "none"}, {"-attempts", "0"}, {"-attempts", "-1"}, {"-backoff", "0s"}, {"-most", "soon"},
	} {
		code, _, errs := s.command("", append([]string{"set", "k", "-in", "1h", "-webhook", "http://example.com/"}, args...)...)
		require.Equal(t, usage, code, args)
		require.NotContains(t, errs, "hidden")
	}
	code, out, errs := s.command("", "set", "k", "-in", "1h", "-webhook", "http://example.com/", "-header", "A: b", "-json")
	require.Equal(t, ok, code, errs)
	var one struct {
		To struct{ Headers map[string]string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &one))
	require.Equal(t, map[string]string{"A": "b"}, one.To.Headers)
}
