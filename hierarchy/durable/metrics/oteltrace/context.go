package oteltrace

import (
	"bytes"

	"go.opentelemetry.io/otel/trace"
)

// size is the size of a trace context: a version, and three fields, each after its number.
const size = 1 + 1 + len(trace.TraceID{}) + 1 + len(trace.SpanID{}) + 1 + 1

// The offsets of the parts of a trace context.
const (
	atTrace = 2
	atSpan  = atTrace + len(trace.TraceID{}) + 1
	atFlags = atSpan + len(trace.SpanID{}) + 1
)

// empty is a trace context whose fields are zero: version 0, and the fields' numbers 0, 1 and 2.
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

// decode decodes a trace context. The result is marked as remote. ok is false if b was not made by encode.
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
