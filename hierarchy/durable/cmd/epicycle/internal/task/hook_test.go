package task

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What an earlier version has stored is read for ever, and what it can have is stored as it was.
func TestVersion1(t *testing.T) {
	stored := append([]byte{1, 1, 0x80, 0xd8, 0x8e, 0xe1, 0x6f, 10}, `http://x/y{"id":17}`...)
	got, err := Codec{}.Decode(stored)
	require.NoError(t, err)
	require.Equal(t, Task{Value: []byte(`{"id":17}`), To: Target{Webhook, "http://x/y"}, Timeout: 30 * time.Second}, got)
	again, err := Codec{}.Append(nil, got)
	require.NoError(t, err)
	require.Equal(t, stored, again)
}

func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		"\x02\x01\x01\x00":                                                         "too short",
		"\x02\x01\x01\x00\x07\x00\x00":                                             "field that this program does not know, 7",
		"\x02\x01\x01\x00\x02\x00\x00":                                             "too short",
		"\x02\x01\x01\x00\x02\x01\x05\x00":                                         "too short",
		"\x02\x01\x01\x00\x04\x02\x01\x01\x00":                                     "no number",
		"\x02\x01\x01\x00\x04\x05\x80\x80\x80\x80\x08\x00":                         "no number",
		"\x02\x01\x01\x00\x05\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00true": "no number",
	} {
		_, err := Codec{}.Decode([]byte(text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func TestHeaders(t *testing.T) {
	long := strings.Repeat("x", maxHeaders-1)
	for _, c := range []struct {
		headers []Header
		why     string // empty: it may
	}{
		{[]Header{{"Authorization", "Bearer a b"}, {"X-A", ""}, {"x-b", "a\tb~!"}, {"Content-Type", "text/plain"}, {"!#$%&'*+-.^_`|~9", "v"}}, ""},
		{[]Header{{"x", long}}, ""}, {[]Header{{"x", long + "x"}}, "8193 bytes"}, {[]Header{{"x", long[:4096]}, {"yy", long[:4094]}}, "8193 bytes"},
		{[]Header{{"", "v"}}, "is not the name"}, {[]Header{{"a b", "v"}}, "is not the name"}, {[]Header{{"a:", "v"}}, "is not the name"},
		{[]Header{{"a\r\nb", "v"}}, "is not the name"}, {[]Header{{"ä", "v"}}, "is not the name"}, {[]Header{{"a\x00", "v"}}, "is not the name"},
		{[]Header{{"a", "hidden\r\nb: c"}}, "other than"}, {[]Header{{"a", "hidden\n"}}, "other than"}, {[]Header{{"a", "hidden\x00"}}, "other than"},
		{[]Header{{"a", "hidden\x7f"}}, "other than"}, {[]Header{{"a", "hiddenü"}}, "other than"}, {[]Header{{"a", "hidden\xff"}}, "other than"},
		{[]Header{{"a", " hidden"}}, "begins or ends"}, {[]Header{{"a", "hidden\t"}}, "begins or ends"},
		{[]Header{{"X-A", "hidden"}, {"x_a", "hidden"}}, "comes twice"},
		{make([]Header, MaxHeaders+1), "33, of at most 32"},
	} {
		h := Hook{Headers: c.headers}
		err := h.Check()
		if c.why == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "headers: ", c.headers)
		require.ErrorContains(t, err, c.why)
		require.NotContains(t, err.Error(), "hidden")
	}
	for _, name := range []string{
		"Host", "HOST", "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer",
		"Transfer-Encoding", "transfer_encoding", "Upgrade", "HTTP2-Settings", "Content-Length", "content_length", "Expect",
		"webhook-id", "Webhook-Signature", "webhook_signature", "WEBHOOK-ANYTHING", "epicycle-key", "Epicycle_Attempt",
	} {
		h := Hook{Headers: []Header{{name, "v"}}}
		require.ErrorContains(t, h.Check(), "can't be set", name)
	}
}

func TestMethodAndSecret(t *testing.T) {
	for method, ok := range map[string]bool{
		"": true, "GET": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true,
		"HEAD": false, "CONNECT": false, "OPTIONS": false, "TRACE": false, "post": false, "POST ": false, "GET / HTTP/1.1\r\nA: b": false,
	} {
		h := Hook{Method: method}
		require.Equal(t, ok, h.Check() == nil, method)
	}
	for name, ok := range map[string]bool{
		"shop": true, "Shop_1.key-2": true, "9": true, strings.Repeat("x", maxSecret): true, strings.Repeat("x", maxSecret+1): false,
		".": false, "..": false, ".shop": false, "../shop": false, "a/b": false, `a\b`: false, "/etc/passwd": false, "a\x00": false,
		"ä": false, "a b": false, "C:": false, "a\n": false, "%2e%2e": false,
	} {
		h := Hook{Secret: name}
		require.Equal(t, ok, h.Check() == nil, name)
		require.Equal(t, ok, IsSecretName(name), name)
	}
	require.False(t, IsSecretName(""))
}

func TestRetryCheck(t *testing.T) {
	for _, c := range []struct {
		Retry
		ok bool
	}{
		{Retry{}, true}, {Retry{1, 0, 0}, true}, {Retry{MaxAttempts, 0, 0}, true}, {Retry{MaxAttempts + 1, 0, 0}, false}, {Retry{-1, 0, 0}, false},
		{Retry{0, time.Millisecond, time.Millisecond}, true}, {Retry{0, time.Millisecond - 1, 0}, false}, {Retry{0, 0, -1}, false},
		{Retry{0, maxPause, 0}, true}, {Retry{0, maxPause + 1, 0}, false}, {Retry{0, 0, maxPause + 1}, false},
		{Retry{0, 2 * time.Second, time.Second}, false}, {Retry{0, time.Second, 2 * time.Second}, true},
	} {
		require.Equal(t, c.ok, c.Check() == nil, c.Retry)
	}
}

// A pause is doubled each time, never longer than the longest, and at most half of it is random.
func TestPause(t *testing.T) {
	for _, c := range []struct {
		Retry
		attempt int
		want    time.Duration
	}{
		{Retry{}, 1, time.Second}, {Retry{}, 2, 2 * time.Second}, {Retry{}, 10, 512 * time.Second}, {Retry{}, 11, 10 * time.Minute},
		{Retry{}, 1 << 30, 10 * time.Minute}, {Retry{Backoff: time.Hour}, 1, time.Hour}, {Retry{Backoff: time.Hour}, 2, time.Hour},
		{Retry{Most: time.Millisecond}, 1, time.Millisecond}, {Retry{Most: time.Hour}, 12, 2048 * time.Second}, {Retry{Most: time.Hour}, 13, time.Hour},
		{Retry{0, 3 * time.Second, 12 * time.Second}, 3, 12 * time.Second}, {Retry{0, 3 * time.Second, 12 * time.Second}, 4, 12 * time.Second},
		{Retry{0, maxPause, maxPause}, 63, maxPause}, {Retry{0, time.Millisecond, maxPause}, 40, maxPause}, {Retry{0, time.Millisecond, maxPause}, 80, maxPause},
	} {
		least, most := maxPause, time.Duration(0)
		for range 1000 {
			d := c.Pause(c.attempt)
			least, most = min(least, d), max(most, d)
		}
		require.GreaterOrEqual(t, least, c.want/2, "%v %d", c.Retry, c.attempt)
		require.LessOrEqual(t, most, c.want, "%v %d", c.Retry, c.attempt)
		require.Greater(t, most, c.want/2, "it is random")
	}
}
