package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file shows what receivers may do: anything.

func TestRetryAfter(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, c := range map[string]struct {
		in time.Duration
		ok bool
	}{
		"0": {0, true}, "7": {7 * time.Second, true}, " 7 ": {7 * time.Second, true}, "3599": {MaxRetryIn - time.Second, true},
		"3600": {MaxRetryIn, true}, "3601": {MaxRetryIn, true}, "9223372037": {MaxRetryIn, true}, "18446744073709551616": {MaxRetryIn, true},
		strings.Repeat("9", 1000):                    {MaxRetryIn, true},
		now.Add(time.Minute).Format(http.TimeFormat): {time.Minute, true},
		now.Add(time.Minute).Format(time.RFC850):     {time.Minute, true},
		now.Add(time.Minute).Format(time.ANSIC):      {time.Minute, true},
		now.Add(-5 * time.Second).Format(time.ANSIC): {0, true},
		"Mon, 01 Jan 0001 00:00:00 GMT":              {0, true},
		"Fri, 31 Dec 9999 23:59:59 GMT":              {MaxRetryIn, true},
		"":                                           {}, "-1": {}, "+1": {}, "soon": {}, "1.5": {}, "1e9": {}, "0x10": {}, "7, 8": {}, "\x00": {}, "٣": {},
	} {
		in, ok := retryAfter([]string{text}, now)
		require.Equal(t, c.ok, ok, text)
		require.Equal(t, c.in, in, text)
	}
	in, ok := retryAfter([]string{"soon", "2", "9", "-7"}, now)
	require.True(t, ok)
	require.Equal(t, 9*time.Second, in, "of several headers the longest counts")
	_, ok = retryAfter(nil, now)
	require.False(t, ok)
}

// Only 429 and 503 can ask for a pause.
func TestLater(t *testing.T) {
	var status int
	s, u, _ := sender(t, loopback, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(status)
	})
	for status = range map[int]bool{200: true, 302: true, 410: true, 418: true, 429: true, 500: true, 503: true} {
		answered, err := s.send(t.Context(), u.String())
		require.True(t, answered)
		var later *Later
		require.Equal(t, status == 429 || status == 503, errors.As(err, &later), status)
		if later != nil {
			require.Zero(t, later.In)
			require.ErrorContains(t, err, "the webhook answered")
		}
	}
}

// peer is a receiver that does with each connection whatever it wants.
func peer(t *testing.T, serve func(c net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// repeat sends a text until the connection ends.
func repeat(c net.Conn, text string) {
	for {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
}

// untilClosed reads until the sender closes the connection.
func untilClosed(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

const enough = time.Minute

// sendTo sends a webhook, and fails the test if Send does not return.
func sendTo(t *testing.T, ctx context.Context, url string) (answered bool, err error) {
	t.Helper()
	s := NewSender(loopback, nil, 1, "test")
	t.Cleanup(s.Close)
	done := make(chan struct{})
	go func() {
		defer close(done)
		answered, err = s.send(ctx, url)
	}()
	select {
	case <-done:
	case <-time.After(enough):
		t.Fatal("Send does not return")
	}
	return answered, err
}

// What a receiver sends without an end costs no more than its beginning, and the connection is closed.
func TestEndlessAnswers(t *testing.T) {
	const upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h\r\n\r\n"
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  string
	}{
		"101 and nothing": {func(c net.Conn) { _, _ = io.WriteString(c, upgrade) }, "answered 101"},
		"101 and endless": {func(c net.Conn) { _, _ = io.WriteString(c, upgrade); repeat(c, "x") }, "answered 101"},
		"101, no upgrade": {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 101 OK\r\n\r\n") }, "answered 101"},
		"other 1xx":       {func(c net.Conn) { repeat(c, "HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n") }, "response headers exceeded"},
		"header":          {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"); repeat(c, "x: y\r\n") }, "response headers exceeded"},
		"a header's line": {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nx: "); repeat(c, "xxxx") }, "response headers exceeded"},
		"status line":     {func(c net.Conn) { repeat(c, "HTTP/1.1 200 ") }, "response headers exceeded"},
		"body":            {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 418 no\r\n\r\n"); repeat(c, "xxxx") }, "answered 418"},
		"chunks of a body": {func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 418 no\r\nTransfer-Encoding: chunked\r\n\r\n")
			repeat(c, "1\r\nx\r\n")
		}, "answered 418"},
		"no body": {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 418 no\r\nContent-Length: 9\r\n\r\n") }, "answered 418"},
		"trailer": {func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 418 no\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n0\r\n")
			repeat(c, "x: y\r\n")
		}, "answered 418"},
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{})
			_, err := sendTo(t, t.Context(), peer(t, func(conn net.Conn) {
				defer close(closed)
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				c.serve(conn)
				untilClosed(conn)
			}))
			require.ErrorContains(t, err, c.want)
			<-closed
		})
	}
}

// An attempt ends with its context, whatever a receiver does.
func TestSendEndsWithItsContext(t *testing.T) {
	late := errors.New("late")
	for name, serve := range map[string]func(net.Conn){
		"nothing":       func(net.Conn) {},
		"half a line":   func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.") },
		"half a header": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nx: y") },
		"an early hint": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n\r\n") },
		"continue":      func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			answered, err := sendTo(t, ctx, peer(t, func(c net.Conn) {
				_, _ = c.Read(make([]byte, 1))
				serve(c)
				cancel(late)
				untilClosed(c)
			}))
			require.False(t, answered)
			require.Equal(t, late, err)
		})
	}
}

// A receiver that accepts connections and never reads from them holds up no attempt beyond its context.
func TestReceiverThatDoesNotRead(t *testing.T) {
	s := NewSender(loopback, nil, 1, "test")
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	url := peer(t, func(net.Conn) { close(begun); <-ctx.Done() })
	go func() { <-begun; cancel() }()
	_, err := s.Send(ctx, &Request{URL: url, ID: "i", Body: make([]byte, 64<<20)})
	require.Equal(t, context.Canceled, err)
}

// A receiver that speaks HTTP/2, too, is spoken to by HTTP/1.1.
func TestNoHTTP2(t *testing.T) {
	protos := make(chan string, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { protos <- r.Proto }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	s := NewSender(loopback, nil, 1, "test")
	defer s.Close()
	s.transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	require.NoError(t, s.to(server.URL))
	require.Equal(t, "HTTP/1.1", <-protos)
}

// Dials go on when their attempts have ended. There are no more of them at once than requests may be.
func TestDialsAreLimited(t *testing.T) {
	s := NewSender(loopback, nil, 3, "test")
	var dials, most atomic.Int64
	end := make(chan struct{})
	defer close(end)
	s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		most.Store(max(most.Load(), dials.Add(1)))
		defer dials.Add(-1)
		<-end
		return nil, io.EOF
	}
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		answered, err := s.send(ctx, "http://127.0.0.1/")
		cancel()
		require.False(t, answered)
		require.Equal(t, context.DeadlineExceeded, err)
	}
	require.LessOrEqual(t, most.Load(), int64(3))
}
