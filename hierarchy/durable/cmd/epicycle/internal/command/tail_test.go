package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
)

// tailing is a tail that is running.
type tailing struct {
	t     *testing.T
	lines *bufio.Scanner
	stop  context.CancelFunc
	code  chan int
	last  string // the key of the last timer of begun
}

// tail runs the command tail, which follows when it returns.
func (s *served) tail(t *testing.T, args ...string) *tailing {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	r, w := io.Pipe()
	l := &tailing{t, bufio.NewScanner(r), stop, make(chan int, 1), ""}
	go func() {
		l.code <- run(ctx, append([]string{"tail", "-server", s.url}, args...), streams{strings.NewReader(""), w, w})
		w.Close()
	}()
	return l
}

// begun sets timers until the tail shows one, since it does not say when it follows.
func (l *tailing) begun(s *served, prefix string) *tailing {
	l.t.Helper()
	shown := make(chan bool)
	go func() { shown <- l.lines.Scan() }()
	for n := 0; ; n++ {
		s.do("PUT", fmt.Sprint("/v1/timers/", prefix, "begun-", n), `{"in":"1h","to":{"queue":"q"}}`).json(200)
		select {
		case ok := <-shown:
			require.True(l.t, ok, l.lines.Err())
			l.last = fmt.Sprint(prefix, "begun-", n)
			for !strings.Contains(l.lines.Text(), l.last) {
				l.line()
			}
			return l
		default:
		}
	}
}

func (l *tailing) line() string {
	l.t.Helper()
	require.True(l.t, l.lines.Scan(), l.lines.Err())
	return l.lines.Text()
}

// tail shows what happens at all servers, until it or its server ends.
func TestTail(t *testing.T) {
	a, b := twoServers(t, "")
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("epicycle-attempt") == "1" {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	text, lines := a.tail(t).begun(a, ""), b.tail(t, "-json", "-prefix", "k").begun(b, "k")
	for !strings.Contains(text.line(), lines.last) { // it has seen those, too
	}
	for i := range 5 {
		key := fmt.Sprint("k", i)
		[]*served{a, b}[i%2].set(key, "1h", h.URL, `,"retry":{"backoff":"1ms","most":"1ms"}`)
		require.Regexp(t, `^\S+  set      `+key+`$`, text.line())
		code, out, errs := b.command("", "run", key)
		require.Equal(t, ok, code, errs)
		require.Contains(t, out, key)
		var shown []string
		for range 5 {
			shown = append(shown, text.line())
		}
		all := strings.Join(shown, "\n") + "\n"
		for _, want := range []string{`moved    KEY`, `begun    KEY  attempt 1`, `failed   KEY  attempt 1  the webhook answered 418 I'm a teapot`, `begun    KEY  attempt 2`, `done     KEY  attempt 2`} {
			require.Regexp(t, `(?m)^\S+  `+strings.ReplaceAll(want, "KEY", key)+`$`, all)
		}
		for range 6 {
			var e map[string]any
			require.NoError(t, json.Unmarshal([]byte(lines.line()), &e))
			require.Equal(t, key, e["key"])
			require.NotEmpty(t, e["id"])
		}
	}
	lines.stop()
	require.Equal(t, ok, <-lines.code)
	a.end()
	require.Equal(t, "epicycle: "+epicycle.ErrEventsEnded.Error(), text.line())
	require.Equal(t, failed, <-text.code)
}

// Each server knows the last attempts of the timers of each, as get shows them, until the server that has them ends.
func TestAttemptsOfWebhooks(t *testing.T) {
	a, b := twoServers(t, "")
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	for i := range 6 {
		key := fmt.Sprint("k", i)
		a.set(key, "0s", h.URL, `,"retry":{"attempts":6,"backoff":"1ms","most":"1ms"}`)
		dead := a.becomes(key, hasState("dead")).json(200)
		require.Equal(t, dead, b.do("GET", "/v1/timers/"+key, "").json(200))
		all := dead["attempts"].([]any)
		require.Len(t, all, 5)
		for _, one := range all {
			require.Equal(t, 503.0, one.(map[string]any)["status"])
			require.Equal(t, "the webhook answered 503 Service Unavailable", one.(map[string]any)["error"])
		}
		for _, s := range []*served{a, b} {
			code, out, errs := s.command("", "get", key)
			require.Equal(t, ok, code, errs)
			require.Regexp(t, `\nATTEMPT +TOOK +STATUS +ERROR\n(\S+ +\S+ +503 +the webhook answered 503 Service Unavailable\n){5}$`, out)
		}
	}
}

// run makes several timers due, waiting or dead, and says which it has not found.
func TestRun(t *testing.T) {
	s := serve(t, "-max-attempts", "1")
	h := newHook(t, nil)
	s.set("waits", "1h", h.URL, "")
	s.queue("dead", "0s", "q", "")
	require.Equal(t, []bool{true}, s.ends("q", "fail", s.takeAll("q", 1)[0]["token"]))
	s.becomes("dead", hasState("dead"))
	code, out, errs := s.command("", "run", "waits", "none", "dead", "-json")
	require.Equal(t, notFound, code, errs)
	require.Contains(t, errs, `"none": there is no timer with this key`)
	require.Equal(t, 2, strings.Count(out, "\n"))
	require.Equal(t, "waits", h.next(t).header.Get("epicycle-key"))
	require.Equal(t, "dead", s.takeAll("q", 1)[0]["key"])
	code, _, _ = s.command("", "run")
	require.Equal(t, usage, code)
	s.end()
	code, _, _ = s.command("", "run", "waits")
	require.Equal(t, failed, code)
}
