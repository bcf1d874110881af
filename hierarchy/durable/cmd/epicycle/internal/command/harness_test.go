package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

// asCommand is the variable with which this test binary is the command.
const asCommand = "EPICYCLE_TEST_IS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	leak.Main(m)
}

// enough is longer than anything takes on a machine that is busy.
const enough = time.Minute

// served is a server under test.
type served struct {
	t    testing.TB
	url  string
	head http.Header // of all requests
	logs *logs
	stop context.CancelFunc
	code chan int
}

// logs is what a server logs.
type logs struct {
	mu      sync.Mutex
	text    bytes.Buffer
	address chan string
	found   bool
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b)
	if _, after, ok := strings.Cut(l.text.String(), "address="); ok && !l.found {
		if address, _, ok := strings.Cut(after, " "); ok {
			l.found = true
			l.address <- address
		}
	}
	return len(b), nil
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newLogs() *logs { return &logs{address: make(chan string, 1)} }

// serve starts a server in this process. Without -dir or -nats it has a directory of its own.
func serve(t testing.TB, flags ...string) *served {
	t.Helper()
	text := strings.Join(flags, " ")
	if !strings.Contains(text, "-dir") && !strings.Contains(text, "-nats") {
		flags = append(flags, "-dir", t.TempDir())
	}
	if !strings.Contains(text, "-listen") {
		flags = append(flags, "-listen", "127.0.0.1:0")
	}
	if !strings.Contains(text, "-allow") {
		flags = append(flags, "-allow", "127.0.0.0/8")
	}
	if !strings.Contains(text, "-grace") {
		flags = append(flags, "-grace", "100ms")
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &served{t: t, logs: newLogs(), stop: stop, code: make(chan int, 1)}
	go func() {
		s.code <- run(ctx, append([]string{"serve", "-log-level", "debug"}, flags...), streams{strings.NewReader(""), io.Discard, s.logs})
	}()
	s.await()
	t.Cleanup(func() {
		stop()
		if code, ok := <-s.code; ok {
			require.Equal(t, 0, code, s.logs)
		}
	})
	return s
}

// await waits until the server listens.
func (s *served) await() {
	s.t.Helper()
	select {
	case address := <-s.logs.address:
		s.url = "http://" + address
	case code := <-s.code:
		s.t.Fatalf("exit %d: %s", code, s.logs)
	case <-time.After(enough):
		s.t.Fatalf("it does not listen: %s", s.logs)
	}
}

// end ends the server in order.
func (s *served) end() {
	s.t.Helper()
	s.stop()
	require.Equal(s.t, ok, <-s.code, s.logs)
	close(s.code)
}

// A request may have 100,000 timers, or wait for as long as one does.
var testClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}, Timeout: 5 * enough}

// answer is a response.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   string
}

// do sends a request. The path may have a query.
func (s *served) do(method, path, body string) *answer {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for name, values := range s.head {
		req.Header[name] = values
	}
	resp, err := testClient.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return &answer{s.t, resp.StatusCode, resp.Header, string(b)}
}

// json reads the answer, which must have a status.
func (a *answer) json(status int) (v map[string]any) {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &v), a.body)
	return v
}

// problem reads an answer that is an error, and returns its detail.
func (a *answer) problem(status int) string {
	a.t.Helper()
	p := a.json(status)
	require.Equal(a.t, "application/problem+json", a.header.Get("Content-Type"))
	require.Equal(a.t, float64(status), p["status"])
	require.Equal(a.t, http.StatusText(status), p["title"])
	require.NotEmpty(a.t, p["type"])
	require.NotEmpty(a.t, p["detail"])
	return p["detail"].(string)
}

// hook is a server that gets webhooks.
type hook struct {
	*httptest.Server
	calls chan call
}

type call struct {
	header http.Header
	body   string
	at     time.Time
}

// newHook starts one. answer may be nil.
func newHook(t *testing.T, answer http.HandlerFunc) *hook {
	h := &hook{calls: make(chan call, 10000)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		h.calls <- call{r.Header.Clone(), string(b), time.Now()}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// next returns the next call.
func (h *hook) next(t testing.TB) call {
	t.Helper()
	select {
	case c := <-h.calls:
		return c
	case <-time.After(enough):
		t.Fatal("no webhook")
		return call{}
	}
}

// command runs a client command against the server.
func (s *served) command(input string, args ...string) (code int, out, errs string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(s.t.Context(), append(args, "-server", s.url), streams{strings.NewReader(input), &stdout, &stderr})
	return code, stdout.String(), stderr.String()
}

// process is a server in a process of its own.
type process struct {
	*served
	cmd *exec.Cmd
}

func startProcess(t *testing.T, flags ...string) *process {
	t.Helper()
	p := &process{served: &served{t: t, logs: newLogs(), code: make(chan int, 1)}}
	p.cmd = exec.Command(os.Args[0], append([]string{"serve", "-listen", "127.0.0.1:0", "-allow", "127.0.0.0/8"}, flags...)...)
	p.cmd.Env = append(os.Environ(), asCommand+"=1")
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			_, _ = p.logs.Write(append(lines.Bytes(), '\n'))
		}
		_ = p.cmd.Wait()
		p.code <- p.cmd.ProcessState.ExitCode()
		close(p.code)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		for range p.code { //nolint:revive // until it is closed
		}
	})
	p.await()
	return p
}

// write writes a file.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
