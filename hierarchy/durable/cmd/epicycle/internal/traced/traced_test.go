package traced

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

const example = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// The cases are those of the specification: https://www.w3.org/TR/trace-context/#traceparent-header.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		example: example,
		strings.Replace(example, "-01", "-00", 1):      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
		strings.Replace(example, "-01", "-ff", 1):      example, // flags without a meaning are not passed on
		"cc" + example[2:]:                             example,
		"cc" + example[2:] + "-what-the-future-may-be": example,
		"cc" + example[2:] + ".what":                   "",
		"ff" + example[2:]:                             "",
		example + "-":                                  "",
		example + " ":                                  "",
		" " + example:                                  "",
		example[:len(example)-1]:                       "",
		"":                                             "",
		strings.ToUpper(example):                       "",
		strings.Replace(example, "0af", "0AF", 1):      "",
		strings.Replace(example, "-b", "_b", 1):        "",
		strings.Replace(example, "0af", "xaf", 1):      "",
		"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01":                 "",
		"00-0af7651916cd43dd8448eb211c80319c-" + strings.Repeat("0", 16) + "-01": "",
	} {
		p, ok := parse(text)
		require.Equal(t, want != "", ok, text)
		if ok {
			require.Equal(t, want, p.String(), text)
		}
	}
	_, ok := Of(http.Header{"Traceparent": {example, example}})
	require.False(t, ok)
	_, ok = Of(http.Header{"Traceparent": {example}})
	require.True(t, ok)
	_, ok = Of(http.Header{})
	require.False(t, ok)
}

// Each attempt of each timer has a span of its own in the trace of the request, the same wherever it is made.
func TestAttempts(t *testing.T) {
	p, _ := parse(example)
	stored := Tracer{}.Inject(With(context.Background(), p))
	require.LessOrEqual(t, len(stored), durable.MaxTrace)
	require.Nil(t, Tracer{}.Inject(context.Background()))
	var one durable.ID
	due := time.Unix(1, 0)
	spans := map[string]bool{p.Span(): true}
	for attempt := range 10 {
		got, ok := Attempt(stored, one, due, attempt)
		require.True(t, ok)
		again, _ := Attempt(stored, one, due, attempt)
		require.Equal(t, got, again)
		require.Equal(t, p.Trace(), got.Trace())
		require.True(t, strings.HasSuffix(got.String(), "-01"))
		require.False(t, spans[got.Span()])
		spans[got.Span()] = true
	}
	run, _ := Attempt(stored, one, due.Add(1), 1)
	require.False(t, spans[run.Span()], "a timer that was revived")
	for _, bad := range [][]byte{nil, stored[:len(stored)-1], append(stored[:len(stored):len(stored)], 0), []byte(strings.Repeat("x", len(stored)))} {
		_, ok := Attempt(bad, one, due, 1)
		require.False(t, ok)
	}
}

// What is stored is as metrics/oteltrace stores it: the example of the specification of OpenCensus's binary format.
func TestFormat(t *testing.T) {
	p, ok := parse("00-404142434445464748494a4b4c4d4e4f-6162636465666768-01")
	require.True(t, ok)
	require.Equal(t, "\x00\x00@ABCDEFGHIJKLMNO\x01abcdefgh\x02\x01", string(p.pack()))
	again, ok := unpack(p.pack())
	require.True(t, ok)
	require.Equal(t, p, again)
}
