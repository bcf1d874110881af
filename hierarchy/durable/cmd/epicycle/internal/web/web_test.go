package web

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestGuard(t *testing.T) {
	for text, public := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.15.255.255": true, "172.32.0.0": true, "126.255.255.255": true, "128.0.0.0": true,
		"2606:4700::1111": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true, "2002:808:808::1": true,
		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.255.255.255": false, "10.1.2.3": false, "172.16.0.0": false,
		"172.31.255.255": false, "192.168.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "224.0.0.1": false,
		"239.255.255.255": false, "255.255.255.255": false, "198.18.0.1": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "::ffff:0:127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a00:1": false, "2002:7f00:1::": false, "2002:a00:1::1": false,
		"2001:0:7f00:1::": false, "2001:0:808:808::80ff:fffe": false, // the server of Teredo, and its client 127.0.0.1
	} {
		err := new(Guard).Check(netip.MustParseAddr(text))
		require.Equal(t, public, err == nil, "%s: %v", text, err)
	}
	allowing := &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}
	for text, allowed := range map[string]bool{
		"127.0.0.1": true, "::ffff:127.0.0.1": true, "fd00::1": true, "8.8.8.8": true, "10.0.0.1": false, "::1": false, "fc00::1": false,
	} {
		require.Equal(t, allowed, allowing.Check(netip.MustParseAddr(text)) == nil, text)
	}
}

// sender returns a Sender and what it would send to.
func sender(t *testing.T, guard *Guard, answer http.HandlerFunc) (*Sender, *url.URL, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	s := NewSender(guard, nil, 1, "test")
	t.Cleanup(s.Close)
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	return s, u, &calls
}

var loopback = &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}

func (s *Sender) to(u string) error {
	_, err := s.send(context.Background(), u)
	return err
}

func (s *Sender) send(ctx context.Context, u string) (answered bool, err error) {
	status, err := s.Send(ctx, &Request{URL: u, Key: "k", ID: "i", Due: time.Now(), Attempt: 1, Body: []byte("1")})
	return status != 0, err
}

// However this machine is written, nothing is sent to it.
func TestNoWayIn(t *testing.T) {
	s, u, calls := sender(t, new(Guard), func(http.ResponseWriter, *http.Request) {})
	s.transport.DialContext = (&net.Dialer{
		Control: new(Guard).control,
		Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no name servers in tests")
		}},
	}).DialContext
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "127.1", "127.0.1",
		"0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "127.000.000.001",
		"%31%32%37.0.0.1", "１２７.0.0.1", "①②⑦.0.0.1", "[fe80::1%25lo]", "10.0.0.1", "169.254.169.254", "user@127.0.0.1",
	} {
		require.Error(t, s.to("http://"+host+":"+u.Port()+"/"), host)
	}
	require.Zero(t, calls.Load())
}

// A name whose address is this machine's is refused when it is dialled, not before.
func TestNameOfThisMachine(t *testing.T) {
	s, u, calls := sender(t, new(Guard), func(http.ResponseWriter, *http.Request) {})
	err := s.to("http://localhost:" + u.Port() + "/")
	require.ErrorContains(t, err, "is not public, and -allow does not name it")
	require.Zero(t, calls.Load())
	allowed := NewSender(loopback, nil, 1, "test")
	defer allowed.Close()
	require.NoError(t, allowed.to("http://127.0.0.1:"+u.Port()+"/"))
	require.Equal(t, int64(1), calls.Load())
}

// What an answer says is done, and a redirect is not followed.
func TestVerdicts(t *testing.T) {
	var status int
	header := make(http.Header)
	s, u, calls := sender(t, loopback, func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
	})
	for status = 200; status < 300; status += 33 {
		require.NoError(t, s.to(u.String()))
	}
	for _, status = range []int{300, 301, 302, 303, 307, 308} {
		header.Set("Location", u.String()+"/elsewhere")
		require.ErrorContains(t, s.to(u.String()), "which is not followed")
	}
	header.Del("Location")
	before := calls.Load()
	for _, status = range []int{400, 401, 404, 410, 418, 429, 500, 503, 599} {
		require.ErrorContains(t, s.to(u.String()), "the webhook answered")
	}
	require.Equal(t, before+9, calls.Load())
	status = 410
	require.Equal(t, durable.Permanent(errors.New("the webhook answered 410 Gone")).Error(), s.to(u.String()).Error())
}

func TestSigner(t *testing.T) {
	one, two := []byte("the first key, long"), []byte("the second key, long")
	line := func(b []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(b) }
	for _, c := range []struct {
		file string
		keys [][]byte
	}{
		{string(one), [][]byte{one}}, {string(one) + "\r\n", [][]byte{one}}, {line(one) + "\n", [][]byte{one}},
		{line(one) + "\n\n" + line(two) + "\n", [][]byte{one, two}},
	} {
		s, err := NewSigner([]byte(c.file))
		require.NoError(t, err)
		h := make(http.Header)
		require.NoError(t, (&Keys{Server: s}).sign(h, "", "id", time.Now(), []byte("body")))
		require.Len(t, strings.Fields(h.Get("webhook-signature")), len(c.keys))
		for _, key := range c.keys {
			verifier, err := standardwebhooks.NewWebhookRaw(key)
			require.NoError(t, err)
			require.NoError(t, verifier.Verify([]byte("body"), h))
			require.Error(t, verifier.Verify([]byte("other"), h))
		}
	}
	for _, file := range []string{"", "\n", secretPrefix, secretPrefix + "%%%", line(one) + "\nnonsense"} {
		_, err := NewSigner([]byte(file))
		require.Error(t, err, file)
	}
}

func TestHeaderKey(t *testing.T) {
	for key, want := range map[string]string{
		"order-17": "order-17", "a b": "a b", " a ": "%20a%20", "100%": "100%25", "ü": "%C3%BC", "a\r\nX: y": "a%0D%0AX: y", "\x7f": "%7F",
	} {
		require.Equal(t, want, HeaderKey(key))
		back, err := url.PathUnescape(HeaderKey(key))
		require.NoError(t, err)
		require.Equal(t, key, back)
	}
}
