package service

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// openSending opens a service that may send to this machine.
func openSending(t testing.TB, perHost int, cfg durable.Config[string, task.Task]) *Service {
	t.Helper()
	guard := &web.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	cfg.Dir, cfg.Partitions, cfg.Logger = t.TempDir(), 1, cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s, err := Open(t.Context(), Config{
		Durable: cfg, Sender: web.NewSender(guard, nil, perHost, "test"), PerHost: perHost, Total: 4096,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
	return s
}

func webhook(url string, timeout time.Duration) task.Task {
	return task.Task{Value: []byte("1"), To: task.Target{Kind: task.Webhook, Name: url}, Timeout: timeout}
}

// Retry-After makes the pause after an attempt longer, by an hour at most, and never shorter.
func TestRetryAfterOnlyLengthens(t *testing.T) {
	mock := clock.NewMock()
	s := openSending(t, 1, durable.Config[string, task.Task]{
		Clock: mock, Backoff: func(attempt int) time.Duration { return time.Duration(attempt) * time.Minute },
	})
	passed := time.Now().Add(-5 * time.Second).UTC()
	cases := []struct {
		header []string
		want   time.Duration
	}{
		{nil, time.Minute},
		{[]string{"0"}, 2 * time.Minute},
		{[]string{passed.Format(http.TimeFormat)}, 3 * time.Minute},
		{[]string{"-1"}, 4 * time.Minute},
		{[]string{"1"}, 5 * time.Minute},
		{[]string{"600"}, 10 * time.Minute},
		{[]string{"86400"}, time.Hour},
		{[]string{"99999999999999999999"}, time.Hour},
		{[]string{"soon", "660", "0"}, 11 * time.Minute},
	}
	calls, probes := make(chan time.Time, 100), make(chan bool)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("epicycle-key") == "probe" {
			probes <- true
			return
		}
		attempt, _ := strconv.Atoi(r.Header.Get("epicycle-attempt"))
		if attempt <= len(cases) {
			w.Header()["Retry-After"] = cases[attempt-1].header
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		calls <- mock.Now()
	}))
	defer receiver.Close()
	const moment = 5 * time.Millisecond
	set := func(key string) { // the attempt begins when the clock stands again, so it begins and ends at one time
		require.NoError(t, errOf(s.Set(t.Context(), key, webhook(receiver.URL, time.Hour), moment)))
		mock.Add(moment)
	}
	set("k")
	at := <-calls
	for i, c := range cases {
		eventually(t, func() bool {
			e, _, err := s.Lookup(t.Context(), "k")
			require.NoError(t, err)
			return e.State == durable.StateWaiting && e.Attempt == i+1
		})
		mock.Add(c.want - 2*moment)
		set("probe") // one request at once goes to the host, so an attempt of k that was due would come before it
		<-probes
		require.Empty(t, calls, c.header)
		mock.Add(moment)
		next := <-calls
		require.Equal(t, c.want, next.Sub(at), c.header)
		at = next
	}
}

// hanging returns the listeners of receivers that accept connections and never answer.
func hanging(t testing.TB, n int) (all []net.Listener) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		all = append(all, l)
	}
	return all
}

// setMany sets some timers for each of some receivers.
func setMany(t testing.TB, s *Service, all []net.Listener, each int) {
	t.Helper()
	b := new(durable.Batch[string, task.Task])
	for i, l := range all {
		for j := range each {
			b.Set(fmt.Sprintf("hangs-%d-%d", i, j), webhook("http://"+l.Addr().String(), time.Hour), 0)
		}
		if b.Len() > 1000 || i == len(all)-1 {
			require.NoError(t, s.Batch(t.Context(), b))
			b.Reset()
		}
	}
}

// Hosts that accept connections and never answer hold up no other, and get what waits for them when they answer again.
func TestHostsThatHang(t *testing.T) {
	const hosts, each, n = 300, 20, 200
	s := openSending(t, 16, durable.Config[string, task.Task]{})
	all := hanging(t, hosts)
	setMany(t, s, all, each)
	calls := make(chan string, n)
	healthy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls <- r.Header.Get("epicycle-key")
	}))
	defer healthy.Close()
	for i := range n {
		require.NoError(t, errOf(s.Set(t.Context(), fmt.Sprint("k", i), webhook(healthy.URL, time.Minute), 0)))
		<-calls
	}
	eventually(t, func() bool { // all are in progress, or wait for a host that does not answer
		l := s.Lanes()
		require.Zero(t, l.Crowded)
		return l.Hanging == hosts && l.Running+l.Held == hosts*each
	})

	recovered := make(chan string, each)
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		recovered <- r.Header.Get("epicycle-key")
	})}
	go func() { _ = server.Serve(all[0]) }()
	defer server.Close()
	for range each {
		<-recovered
	}
	eventually(t, func() bool { return s.Lanes().Hanging == hosts-1 })
}

// Shutdown ends attempts whatever their receivers do.
func TestShutdownEndsAttempts(t *testing.T) {
	s := openSending(t, 16, durable.Config[string, task.Task]{})
	l := hanging(t, 1)[0]
	begun := make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n")
		close(begun)
		_, _ = io.Copy(io.Discard, c)
	}()
	setMany(t, s, []net.Listener{l}, 3)
	<-begun
	require.NoError(t, s.Shutdown(t.Context()))
	require.Zero(t, s.Lanes().Running)
}

// Shutdown ends with its context, even if an attempt does not end.
func TestShutdownEndsWithItsContext(t *testing.T) {
	s := openSending(t, 16, durable.Config[string, task.Task]{})
	begun, end := make(chan struct{}), make(chan struct{})
	s.hosts = lane.NewHosts(1, 1, lane.NewGate(nil), func(lane.Due) lane.Outcome {
		close(begun)
		<-end
		return lane.Unknown
	})
	s.hosts.Push("h", lane.Due{})
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_ = s.Shutdown(ctx)
	close(end)
}

// An attempt to publish ends with its context, even if the NATS server does not read what is sent to it.
func TestPublishToAServerThatDoesNotRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	end := make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, `INFO {"server_id":"x","version":"2.11.0","headers":true,"max_payload":1073741824}`+"\r\n")
		lines := bufio.NewReader(c)
		for line := ""; line != "PING\r\n"; {
			if line, err = lines.ReadString('\n'); err != nil {
				return
			}
		}
		_, _ = io.WriteString(c, "PONG\r\n")
		<-end
	}()
	conn, err := nats.Connect(l.Addr().String(), nats.NoReconnect())
	require.NoError(t, err)
	defer conn.Close()
	defer close(end)
	var p publisher
	p.init(conn)
	p.stored["s"] = stored{false, time.Now().Add(time.Hour)}
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, late)
	defer cancel()
	a := new(Attempt)
	a.Value = task.Task{Value: make([]byte, 64<<20), To: task.Target{Kind: task.Subject, Name: "s"}}
	require.Equal(t, late, p.publish(ctx, a))
}
