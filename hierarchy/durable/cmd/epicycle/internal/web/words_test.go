package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Errors are in words, with the address at most.
func TestWords(t *testing.T) {
	at := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Addr: at, Err: os.NewSyscallError("connect", errors.New("connection refused"))},
			"connection refused (192.0.2.1:443)"},
		{&net.OpError{Op: "read", Net: "tcp", Addr: at, Source: at, Err: os.NewSyscallError("read", errors.New("connection reset by peer"))},
			"connection reset by peer (192.0.2.1:443)"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: at, Err: os.ErrDeadlineExceeded}, "no connection within 10s (192.0.2.1:443)"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: at, Err: errors.New("the address is not public")}, "the address is not public"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, "tls: bad certificate"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "a.example", Server: "192.0.2.2:53", IsNotFound: true}},
			"no such host: a.example"},
		{&net.DNSError{Err: "i/o timeout", Name: "a.example", Server: "192.0.2.2:53", IsTimeout: true}, "no answer of the name servers for a.example"},
		{&net.DNSError{Err: "server misbehaving", Name: "a.example"}, "the name a.example can't be resolved: server misbehaving"},
		{io.EOF, "the connection was closed before an answer"},
		{io.ErrUnexpectedEOF, "the connection was closed before an answer"},
		{context.Canceled, "context canceled"},
		{errors.New(`malformed HTTP response "a secret"`), "malformed HTTP response"},
		{errors.New(`malformed MIME header: missing colon: "a secret"`), "malformed MIME header: missing colon"},
		{errors.New("http: server gave HTTP response to HTTPS client"), "http: server gave HTTP response to HTTPS client"},
	} {
		got := words(c.err)
		require.EqualError(t, got, c.want)
		require.ErrorIs(t, got, c.err)
	}
}

// Where nobody listens, and where somebody listens who does not speak HTTP.
func TestWordsOfTheNetwork(t *testing.T) {
	s := NewSender(loopback, nil, 1, "test")
	defer s.Close()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	require.ErrorContains(t, s.to("http://"+nobody.Addr().String()+"/?a=secret"), "("+nobody.Addr().String()+")")
	for said, want := range map[string]string{
		"":                              "the connection was closed before an answer",
		"secret\r\n\r\n":                "the answer is not HTTP: malformed HTTP response",
		"HTTP/1.1 secret\r\n\r\n":       "the answer is not HTTP: malformed HTTP status code",
		"HTTP/1.1 200 OK\r\nsecret\r\n": "the answer is not HTTP: malformed MIME header",
	} {
		require.ErrorContains(t, s.to("http://"+saying(t, said)+"/?a=secret"), want)
		require.NotContains(t, s.to("http://"+saying(t, said)+"/?a=secret").Error(), "secret")
	}
}

// saying returns the address of a server that says something whatever it is asked.
func saying(t *testing.T, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(c)) // else the rest of the request resets the connection
			_, _ = io.WriteString(c, text)
			c.Close()
		}
	}()
	return l.Addr().String()
}

// A status has its name, and a redirect where it leads to, without what may be secret there.
func TestWordsOfAnswers(t *testing.T) {
	for _, c := range []struct {
		status         int
		location, want string
	}{
		{503, "", "the webhook answered 503 Service Unavailable"},
		{599, "", "the webhook answered 599"},
		{302, "", "the webhook answered 302 Found, a redirect, which is not followed"},
		{307, "https://u:secret@a.example/b%0Ac?d=secret#secret",
			"the webhook answered 307 Temporary Redirect, a redirect to https://a.example/b%0Ac, which is not followed"},
		{301, "/here?secret", "the webhook answered 301 Moved Permanently, a redirect to /here, which is not followed"},
		{301, "http://a b/", "the webhook answered 301 Moved Permanently, a redirect, which is not followed"},
		{301, "/" + strings.Repeat("x", longestPlace), "the webhook answered 301 Moved Permanently, a redirect, which is not followed"},
	} {
		require.EqualError(t, answered(&http.Response{StatusCode: c.status, Header: http.Header{"Location": {c.location}}}), c.want)
	}
}
