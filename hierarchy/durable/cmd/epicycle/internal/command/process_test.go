package command

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var kills = flag.Int("kills", 3, "how often TestKillNine kills the server")

var idle = flag.Int("idle", 10000, "how many connections TestSlowClients opens")

// Nothing that was acknowledged is lost, and nothing that was removed comes, however often the server is killed.
func TestKillNine(t *testing.T) {
	dir := t.TempDir()
	expected := make(map[string]string) // by key: the value that was acknowledged last, or none
	doubtful := make(map[string]bool)   // the keys of requests without an answer
	for range *kills {
		p := startProcess(t, "-dir", dir)
		page := p.do("GET", "/v1/timers?limit=1000", "").json(200)
		found := make(map[string]string)
		for _, one := range page["timers"].([]any) {
			timer := one.(map[string]any)
			found[timer["key"].(string)] = fmt.Sprint(timer["value"])
		}
		for key, value := range expected {
			if !doubtful[key] {
				require.Equal(t, value, found[key], "%s was acknowledged", key)
			}
		}
		for key, value := range found {
			if _, ok := expected[key]; !ok && !doubtful[key] {
				t.Fatalf("%s is there, with %s, and was removed", key, value)
			}
			expected[key] = value
		}
		for key := range doubtful {
			if _, ok := found[key]; !ok {
				delete(expected, key)
			}
		}
		clear(doubtful)
		load(p, expected, doubtful)
	}
}

// load sets and removes timers from several clients, and kills the server meanwhile.
func load(p *process, expected map[string]string, doubtful map[string]bool) {
	var mu sync.Mutex
	var clients sync.WaitGroup
	calls := make(chan struct{}, 1000)
	for client := range 8 {
		clients.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("%d-%d", client, rand.IntN(50))
				value := fmt.Sprintf("%d", rand.IntN(1e6))
				method, body := http.MethodPut, fmt.Sprintf(`{"in":"1h","value":%s,"to":{"queue":"q"}}`, value)
				if n%3 == 2 {
					method, body = http.MethodDelete, ""
				}
				status, err := p.try(method, "/v1/timers/"+key, body)
				mu.Lock()
				switch {
				case err != nil || status == http.StatusServiceUnavailable:
					doubtful[key] = true
				case method == http.MethodPut:
					expected[key] = value
				default:
					delete(expected, key)
				}
				mu.Unlock()
				if err != nil {
					return
				}
				select {
				case calls <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 200 + rand.IntN(200) {
		<-calls
	}
	_ = p.cmd.Process.Kill()
	clients.Wait()
	<-p.code
}

// try sends a request that may have no answer.
func (s *served) try(method, path, body string) (int, error) {
	return s.tryWithin(enough, method, path, body)
}

func (s *served) tryWithin(patience time.Duration, method, path, body string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	resp, err := testClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// At SIGTERM, take returns, requests that are under way end, and attempts have time to end. Then the server ends.
func TestTerminate(t *testing.T) {
	p := startProcess(t, "-dir", t.TempDir())
	entered, leave := make(chan struct{}), make(chan struct{})
	h := newHook(t, func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-leave
	})
	p.set("hook", "0s", h.URL, "")
	<-entered
	p.queue("k", "0s", "mails", "")
	token := p.takeAll("mails", 1)[0]["token"]
	waiting := make(chan []map[string]any)
	testClient.CloseIdleConnections() // the server closes them at SIGTERM, and a POST may be lost in one
	go func() { waiting <- p.take("mails", `{"wait":"10m"}`) }()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Empty(t, <-waiting)
	require.Contains(t, p.do("GET", "/readyz", "").problem(503), "shutting down")
	require.Equal(t, 200, p.do("GET", "/healthz", "").status)
	require.Equal(t, []bool{true}, p.ends("mails", "done", token))
	close(leave)
	require.Equal(t, ok, <-p.code, p.logs)
}

// A second server on a directory is refused, and says why.
func TestTwoServers(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, "-dir", dir)
	var errs strings.Builder
	code := run(t.Context(), []string{"serve", "-dir", dir, "-listen", "127.0.0.1:0"}, streams{strings.NewReader(""), io.Discard, &errs})
	require.Equal(t, failed, code)
	require.Contains(t, errs.String(), dir)
	require.Equal(t, 200, p.do("GET", "/readyz", "").status)
}

// SIGHUP has the tokens read again.
func TestHangup(t *testing.T) {
	file := write(t, "tokens", tokenLine("a", "admin", "old", ""))
	p := startProcess(t, "-dir", t.TempDir(), "-tokens", file)
	p.as("old").do("GET", "/v1/timers", "").json(200)
	require.NoError(t, os.WriteFile(file, []byte(tokenLine("a", "admin", "new", "")), 0o600))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	for begun := time.Now(); p.as("new").do("GET", "/v1/timers", "").status != 200; {
		require.Less(t, time.Since(begun), enough)
	}
	p.as("old").do("GET", "/v1/timers", "").problem(401)
	require.NoError(t, os.WriteFile(file, []byte("nonsense"), 0o600))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	for begun := time.Now(); !strings.Contains(p.logs.String(), "stays as it was"); {
		require.Less(t, time.Since(begun), enough)
		p.as("new").do("GET", "/v1/timers", "").json(200)
	}
}

// SIGHUP does not end a server that is waiting for NATS.
func TestHangupBeforeTheTimersAreOpen(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	file := write(t, "tokens", tokenLine("a", "admin", "old", ""))
	logs := newLogs()
	cmd := exec.Command(os.Args[0], "serve", "-listen", "127.0.0.1:0", "-tokens", file, "-nats", silent.Addr().String())
	cmd.Env, cmd.Stderr = append(os.Environ(), asCommand+"=1"), logs
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	_, err = silent.Accept()
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return strings.Contains(logs.String(), "a file was read again") }, enough, time.Millisecond)
}

// Connections that are idle, or send their headers or bodies slowly, hold up nobody.
func TestSlowClients(t *testing.T) {
	s := startProcess(t, "-dir", t.TempDir())
	address := strings.TrimPrefix(s.url, "http://")
	for i := range *idle {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close()
		_, err = io.WriteString(c, []string{
			"", "GET /v1", "GET /v1/timers HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
			"PUT /v1/timers/slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
		}[i%4])
		require.NoError(t, err)
	}
	h := newHook(t, nil)
	s.set("k", "0s", h.URL, "")
	h.next(t)
	s.becomes("k", gone)
}

// Connections beyond the limit are closed, and the others go on. When one has ended, there is room for another.
func TestTooManyConnections(t *testing.T) {
	s := serve(t, "-max-connections", "2")
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	answers := func(c net.Conn) bool {
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err == nil && resp.StatusCode == http.StatusOK
	}
	first, second := dial(), dial()
	require.True(t, answers(first))
	require.True(t, answers(second))
	for range 10 {
		require.False(t, answers(dial()))
	}
	require.True(t, answers(first))
	require.NoError(t, second.Close())
	for begun := time.Now(); !answers(dial()); {
		require.Less(t, time.Since(begun), enough)
	}
	require.True(t, answers(first))
}

// A request that is in progress at SIGTERM gets its answer, also when the server accepts no others any more.
func TestRequestsInProgressAtTheEnd(t *testing.T) {
	p := startProcess(t, "-dir", t.TempDir())
	p.queue("a", "1h", "q", "")
	line := p.do("GET", "/v1/export", "").body
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(enough)))
	_, err = fmt.Fprintf(conn, "POST /v1/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(line), line[:10])
	require.NoError(t, err)
	p.do("GET", "/healthz", "") // the server has read the other request by now
	testClient.CloseIdleConnections()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		other, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			break
		}
		other.Close()
		require.Less(t, time.Since(begun), enough)
	}
	time.Sleep(10 * time.Millisecond) // what would cut the request comes by now, or this test finds nothing
	_, err = io.WriteString(conn, line[10:])
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, ok, <-p.code, p.logs)
}
