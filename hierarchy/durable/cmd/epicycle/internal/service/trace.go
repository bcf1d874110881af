package service

import "github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/traced"

// traceOf returns the trace context of an attempt, as text, or "" if the timer was set without one.
func traceOf(a *Attempt) string {
	if p, ok := traced.Attempt(a.Trace(), a.ID, a.Due, a.Attempt); ok {
		return p.String()
	}
	return ""
}

// traceAttrs returns what a line of the log says of the trace of an attempt.
func traceAttrs(a *Attempt) []any {
	if p, ok := traced.Attempt(a.Trace(), a.ID, a.Due, a.Attempt); ok {
		return []any{"trace_id", p.Trace(), "span_id", p.Span()}
	}
	return nil
}
