package oteltrace

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

func spanContext(traceID, spanID byte, flags trace.TraceFlags) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: traceID}, SpanID: trace.SpanID{7: spanID}, TraceFlags: flags, Remote: true,
	})
}

// The bytes are those of OpenCensus, from the specification of its binary format.
func TestFormat(t *testing.T) {
	const example = "00" + "00" + "404142434445464748494a4b4c4d4e4f" + "01" + "6162636465666768" + "02" + "01"
	b, err := hex.DecodeString(example)
	require.NoError(t, err)
	sc, ok := decode(b)
	require.True(t, ok)
	require.Equal(t, "404142434445464748494a4b4c4d4e4f", sc.TraceID().String())
	require.Equal(t, "6162636465666768", sc.SpanID().String())
	require.Equal(t, trace.FlagsSampled, sc.TraceFlags())
	require.True(t, sc.IsRemote())
	require.Equal(t, b, encode(sc))
	require.LessOrEqual(t, len(b), durable.MaxTrace)
}

func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	for _, sc := range []trace.SpanContext{spanContext(1, 2, 0), spanContext(1, 2, trace.FlagsSampled), spanContext(255, 255, 255)} {
		got, ok := decode(encode(sc))
		require.True(t, ok)
		require.True(t, sc.Equal(got))
	}
}

// What another tracer has stored, or a later version, is no link.
func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	good := encode(spanContext(1, 2, 1))
	for at := range good {
		shorter := append([]byte{}, good[:at]...)
		_, ok := decode(shorter)
		require.False(t, ok, "%d bytes", at)
	}
	_, ok := decode(append(encode(spanContext(1, 2, 1)), 0))
	require.False(t, ok)
	for _, at := range []int{0, 1, atSpan - 1, atFlags - 1} {
		bad := encode(spanContext(1, 2, 1))
		bad[at] += 3
		_, ok := decode(bad)
		require.False(t, ok, "byte %d", at)
	}
	for _, sc := range []trace.SpanContext{spanContext(0, 2, 1), spanContext(1, 0, 1)} {
		_, ok := decode(encode(sc))
		require.False(t, ok)
	}
}
