package oteltrace

import (
	"bytes"

	"go.opentelemetry.io/otel/trace"
)

// size is that of a trace context: a version, and three fields with a number each.
const size = 1 + 1 + len(trace.TraceID{}) + 1 + len(trace.SpanID{}) + 1 + 1

// Where the parts of a trace context are.
const (
	atTrace = 2
	atSpan  = atTrace + len(trace.TraceID{}) + 1
	atFlags = atSpan + len(trace.SpanID{}) + 1
)

// empty is the trace context without its values: version 0, and the fields' numbers 0, 1 and 2.
var empty = func() (b [size]byte) {
	b[atSpan-1], b[atFlags-1] = 1, 2
	return b
}()

// encode returns the trace context of sc.
func encode(sc trace.SpanContext) []byte {
	b := empty
	traceID, spanID := sc.TraceID(), sc.SpanID()
	copy(b[atTrace:], traceID[:])
	copy(b[atSpan:], spanID[:])
	b[atFlags] = byte(sc.TraceFlags())
	return b[:]
}

// decode returns what encode was given, as it is in another process. It reports false for anything else.
func decode(b []byte) (sc trace.SpanContext, ok bool) {
	if len(b) != size {
		return sc, false
	}
	cfg := trace.SpanContextConfig{TraceFlags: trace.TraceFlags(b[atFlags]), Remote: true}
	copy(cfg.TraceID[:], b[atTrace:])
	copy(cfg.SpanID[:], b[atSpan:])
	sc = trace.NewSpanContext(cfg)
	return sc, sc.IsValid() && bytes.Equal(encode(sc), b)
}
