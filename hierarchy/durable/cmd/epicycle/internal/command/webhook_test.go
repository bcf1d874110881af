package command

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// set sets a timer with a webhook.
func (s *served) set(key, in, webhook, more string) map[string]any {
	s.t.Helper()
	return s.do("PUT", "/v1/timers/"+key, fmt.Sprintf(`{"in":%q,"to":{"webhook":%q}%s}`, in, webhook, more)).json(200)
}

// becomes waits until a timer is as it should be.
func (s *served) becomes(key string, is func(*answer) bool) *answer {
	s.t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		a := s.do("GET", "/v1/timers/"+key, "")
		if is(a) {
			return a
		}
		if time.Since(begun) > enough {
			s.t.Fatalf("%s stays %s", key, a.body)
		}
	}
}

func gone(a *answer) bool { return a.status == 404 }

func hasState(state string) func(*answer) bool {
	return func(a *answer) bool { return strings.Contains(a.body, `"state":"`+state+`"`) }
}

// tried reports whether attempts have failed, and another one is to follow. The first of these may have begun already.
func tried(a *answer) bool {
	return hasState("waiting")(a) && !strings.Contains(a.body, `"attempt":0`)
}

// A webhook has the value as its body, and headers that say what it is about, with a signature.
func TestWebhook(t *testing.T) {
	for _, secret := range []string{"whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret")), "a secret"} {
		s := serve(t, "-secret-file", write(t, "secret", secret+"\n"))
		h := newHook(t, nil)
		value := `{"id":  17, "text": "ü"}`
		set := s.set("order%2F%C3%BC%2517", "10ms", h.URL+"/cancel", `,"value":`+value)
		c := h.next(t)
		require.Equal(t, value, c.body)
		due, err := time.Parse(time.RFC3339Nano, set["due"].(string))
		require.NoError(t, err)
		require.False(t, c.at.Before(due), "early")
		require.Equal(t, set["id"], c.header.Get("webhook-id"))
		require.Equal(t, set["due"], c.header.Get("epicycle-due"))
		require.Equal(t, "order/%C3%BC%2517", c.header.Get("epicycle-key"))
		require.Equal(t, "1", c.header.Get("epicycle-attempt"))
		require.Equal(t, "application/json", c.header.Get("Content-Type"))
		key, err := standardwebhooks.NewWebhookRaw([]byte("a secret"))
		require.NoError(t, err)
		require.NoError(t, key.Verify([]byte(c.body), c.header))
		require.True(t, strings.HasPrefix(c.header.Get("webhook-signature"), "v1,"))
		s.becomes("order%2F%C3%BC%2517", gone)
	}
}

// Each key that the command secret prints is another one, by which receivers can verify webhooks.
func TestSecret(t *testing.T) {
	secret := newSecret(t)
	require.NotEqual(t, secret, newSecret(t))
	s, h := serve(t, "-secret-file", write(t, "secret", secret)), newHook(t, nil)
	s.set("k", "0s", h.URL, "")
	c := h.next(t)
	key, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, key.Verify([]byte(c.body), c.header))
}

// newSecret returns what the command secret prints.
func newSecret(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	require.Equal(t, ok, run(t.Context(), []string{"secret"}, streams{strings.NewReader(""), &out, &out}))
	return strings.TrimSuffix(out.String(), "\n")
}

// After a failed attempt another one follows, with the same ID.
func TestWebhookFails(t *testing.T) {
	s := serve(t)
	answers := make(chan func(http.ResponseWriter), 100)
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) { (<-answers)(w) })
	status := func(code int, header ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	id := s.set("k", "0s", h.URL, "")["id"]
	var before time.Time
	for attempt := 1; attempt <= 3; attempt++ {
		answers <- [...]func(http.ResponseWriter){
			status(503, "Retry-After", "0"), status(429, "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), status(204),
		}[attempt-1]
		c := h.next(t)
		require.GreaterOrEqual(t, c.at.Sub(before), time.Duration(attempt-1)*500*time.Millisecond, "Retry-After shortens no pause")
		before = c.at
		require.Equal(t, id, c.header.Get("webhook-id"))
		require.Equal(t, fmt.Sprint(attempt), c.header.Get("epicycle-attempt"))
	}
	s.becomes("k", gone)

	s.set("retry-after", "0s", h.URL, "")
	answers <- status(503, "Retry-After", "3600")
	h.next(t)
	later := func(a *answer) bool { return strings.Contains(a.body, `"attempt":1`) && hasState("waiting")(a) }
	s.becomes("retry-after", later)

	always := map[string]func(http.ResponseWriter){ // at each attempt: the second one may come soon
		"redirect": status(302, "Location", h.URL+"/elsewhere"), "teapot": status(418), "500": status(500),
	}
	others := newHook(t, func(w http.ResponseWriter, r *http.Request) { always[r.Header.Get("epicycle-key")](w) })
	for name := range always {
		s.set(name, "0s", others.URL, "")
		s.becomes(name, tried)
	}
	require.Empty(t, h.calls, "a redirect is not followed")
	s.set("gone", "0s", h.URL, "")
	answers <- status(410)
	h.next(t)
	s.becomes("gone", hasState("dead"))
	require.Equal(t, []string{"gone"}, keysOf(s.do("GET", "/v1/timers?state=dead", "").json(200)))
	dead := s.do("GET", "/v1/timers/gone", "").json(200)
	require.Equal(t, "dead", dead["state"])
	require.Equal(t, "the webhook answered 410 Gone", dead["last_error"])
	answers <- status(200)
	require.Equal(t, 200, s.do("POST", "/v1/timers/gone/revive", "").status)
	require.Equal(t, "1", h.next(t).header.Get("epicycle-attempt"))
	s.becomes("gone", gone)
	require.Empty(t, answers)
}

// A webhook that hangs, answers slowly, or sends endless headers and bodies costs no more than its attempt.
func TestWebhookHangs(t *testing.T) {
	s := serve(t, "-per-host", "2")
	stop := make(chan struct{})
	hangs := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	})
	defer close(stop)
	for i := range 10 {
		s.set(fmt.Sprintf("hangs-%d", i), "0s", hangs.URL, `,"timeout":"1h"`)
	}
	hangs.next(t)
	hangs.next(t)
	h := newHook(t, nil)
	s.set("other", "0s", h.URL, "")
	h.next(t)
	require.Empty(t, hangs.calls, "two at once go to a host")

	s.do("DELETE", "/v1/timers?prefix=hangs", "").json(200)
	s.set("timeout", "0s", hangs.URL, `,"timeout":"20ms"`)
	hangs.next(t)
	s.becomes("timeout", func(a *answer) bool {
		return strings.Contains(a.body, `"last_error":"no answer within the timeout 20ms"`)
	})

	endless := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	})
	s.set("endless", "0s", endless.URL, "")
	endless.next(t)
	s.becomes("endless", gone)

	headers, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer headers.Close()
	go func() {
		for {
			c, err := headers.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for err == nil {
				_, err = io.WriteString(c, "x: y\r\n")
			}
			c.Close()
		}
	}()
	s.set("headers", "0s", "http://"+headers.Addr().String(), "")
	s.becomes("headers", tried)
}

// What is removed or set anew while its request is under way is not what it was any more.
func TestWebhookChanged(t *testing.T) {
	s := serve(t)
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	defer close(leave)
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-leave:
		}
	})
	s.set("k", "0s", h.URL, "")
	<-entered
	require.Equal(t, "running", s.do("GET", "/v1/timers/k", "").json(200)["state"])
	require.Equal(t, []string{"k"}, keysOf(s.do("GET", "/v1/timers?state=running", "").json(200)))
	s.do("DELETE", "/v1/timers/k", "").json(200)
	s.do("GET", "/v1/timers/k", "").problem(404)
	s.set("k", "1h", h.URL, "")
	require.Equal(t, 0.0, s.do("GET", "/v1/timers/k", "").json(200)["attempt"])
}

// Addresses of this machine and its networks are refused, however they are written.
func TestWebhookGuarded(t *testing.T) {
	closed := serve(t, "-allow", "127.0.0.2/32")
	h := newHook(t, nil)
	port := h.URL[strings.LastIndexByte(h.URL, ':'):]
	for i, host := range []string{"127.0.0.1", "localhost", "127.1", "0177.0.0.1", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "169.254.169.254", "10.0.0.1"} {
		key := fmt.Sprintf("k%d", i)
		closed.set(key, "0s", "http://"+host+port+"/", `,"timeout":"5s"`)
		closed.becomes(key, tried)
	}
	require.Empty(t, h.calls)
}

// Where hosts that do not answer have all places for such hosts, a server is ready, and tells so.
func TestReadyWhereHostsWait(t *testing.T) {
	s := serve(t, "-concurrency", "1")
	require.Equal(t, map[string]any{"status": "ok"}, s.do("GET", "/readyz", "").json(200))
	for i := range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0") // nobody answers
		require.NoError(t, err)
		defer l.Close()
		s.set(fmt.Sprint("k", i), "0s", "http://"+l.Addr().String(), "")
	}
	for begun := time.Now(); s.count("hosts_waiting") != 3 || s.count("hosts_hanging") != 2; time.Sleep(10 * time.Millisecond) {
		require.Less(t, time.Since(begun), enough)
	}
	require.Contains(t, s.do("GET", "/readyz", "").json(200)["detail"], "3 hosts")
}

// What a receiver sends unasked is not logged: it may be what it was sent.
func TestUnaskedAnswer(t *testing.T) {
	p := startProcess(t, "-dir", t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	ended, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		<-ended
		_, _ = io.WriteString(c, "HTTP/1.1 200 a-value")
		_, _ = io.Copy(io.Discard, c)
	}()
	p.set("k", "0s", "http://"+l.Addr().String(), "")
	p.becomes("k", gone)
	close(ended)
	<-closed
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, ok, <-p.code)
	require.NotContains(t, p.logs.String(), "a-value")
}
