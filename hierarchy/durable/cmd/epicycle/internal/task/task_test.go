package task

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCodec(t *testing.T) {
	for _, one := range []Task{
		{Value: []byte(`{"id":17}`), To: Target{Webhook, "https://example.com/x?y=1"}, Timeout: DefaultTimeout},
		{Value: []byte(`{}`), To: Target{Webhook, "https://example.com"}, Timeout: time.Second, Hook: Hook{
			Method: "PUT", Headers: []Header{{"Authorization", "Bearer x"}, {"X-Empty", ""}}, Secret: "shop",
		}, Retry: Retry{3, time.Second, time.Minute}},
		{Value: []byte(`1`), To: Target{Queue, "q"}, Timeout: time.Second, Retry: Retry{Most: time.Hour}},
		{Value: []byte(`null`), To: Target{Queue, "mails"}, Timeout: MaxTimeout},
		{Value: []byte(`"ü"`), To: Target{Subject, "orders.cancel"}, Timeout: time.Millisecond},
	} {
		b, err := Codec{}.Append([]byte("before"), one)
		require.NoError(t, err)
		again, err := Codec{}.Decode(b[len("before"):])
		require.NoError(t, err)
		require.Equal(t, one, again)
		for n := range len(b) - len("before") - len(one.Value) {
			_, err := Codec{}.Decode(b[len("before"):][:n])
			require.Error(t, err, n)
		}
	}
	_, err := Codec{}.Decode([]byte{3, 1, 0, 0})
	require.ErrorContains(t, err, "version 3")
	_, err = Codec{}.Decode([]byte{1, 9, 0, 0})
	require.ErrorContains(t, err, "unknown kind")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 1, 1, 1, 'x', '{', '}'})
	f.Add([]byte{2, 1, 1, 1, 'x', 1, 3, 'P', 'U', 'T', 2, 3, 1, 'A', 'b', 3, 1, 's', 4, 1, 5, 5, 1, 1, 6, 1, 1, 0, '1'})
	f.Fuzz(func(t *testing.T, b []byte) {
		one, err := Codec{}.Decode(b)
		if err != nil {
			return
		}
		again, err := Codec{}.Append(nil, one)
		require.NoError(t, err)
		same, err := Codec{}.Decode(again)
		require.NoError(t, err)
		require.Equal(t, one, same)
	})
}

func TestChecks(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://example.com/cancel": true, "http://127.0.0.1:9000/x": true, "http://[::1]:80/": true,
		"ftp://example.com": false, "example.com": false, "": false, "http://": false, "file:///etc/passwd": false,
		"http://a:b@example.com/": false, "http://x:0/": false, "http://x:65535/": true, "http://x:65536/": false, "http://x:/": true,
		"http://x/\r\nHost: y": false, "http://x/ HTTP/1.1\nA: b": false, "http://x/a b": true, "http://x/" + strings.Repeat("x", maxURL): false, "http://%zz/": false,
	} {
		require.Equal(t, ok, Target{Webhook, text}.Check() == nil, text)
	}
	for text, ok := range map[string]bool{
		"orders.cancel": true, "orders": true, "": false, "a..b": false, "a.*": false, "a.>": false, "a b": false,
		"$JS.API": false, "epicycle.timers.ask": false, "\xff": false, strings.Repeat("x", maxSubject+1): false,
	} {
		require.Equal(t, ok, Target{Subject, text}.Check() == nil, text)
	}
	for text, ok := range map[string]bool{
		"mails": true, "a/b": true, "": false, "\xff": false, strings.Repeat("x", maxQueue+1): false,
	} {
		require.Equal(t, ok, Target{Queue, text}.Check() == nil, text)
	}
	for text, ok := range map[string]bool{
		"x": true, "a/b": true, "": false, "\xff": false, strings.Repeat("x", MaxKey): true, strings.Repeat("x", MaxKey+1): false,
	} {
		require.Equal(t, ok, CheckKey(text) == nil, text)
	}
	for d, ok := range map[time.Duration]bool{0: false, -1: false, time.Millisecond: true, MaxTimeout: true, MaxTimeout + 1: false} {
		require.Equal(t, ok, CheckTimeout(d) == nil, d)
	}
}

func TestHost(t *testing.T) {
	require.Equal(t, "example.com:443", Target{Webhook, "https://Example.COM./x"}.Host())
	require.Equal(t, "example.com:80", Target{Webhook, "http://example.com"}.Host())
	require.Equal(t, "::1:8080", Target{Webhook, "http://[::1]:8080/"}.Host())
}
