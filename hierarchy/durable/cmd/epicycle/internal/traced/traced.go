// Package traced passes the trace context of a request that sets a timer (W3C Trace Context) on to the timer's attempts.
package traced

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Header is the name of the header of a trace context.
const Header = "traceparent"

// Parent is the trace context of a request: the span in which a timer was set.
type Parent struct {
	trace [16]byte
	span  [8]byte
	flags byte
}

// sampled is the only flag that has a meaning in version 00.
const sampled = 1

// Of returns the trace context of a request. ok is false if it has none, or none that is valid, which counts as none.
func Of(h http.Header) (p Parent, ok bool) {
	if all := h.Values(Header); len(all) == 1 {
		return parse(all[0])
	}
	return p, false
}

// The lengths of traceparent in version 00, and of what is before each field.
const (
	length  = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	atTrace = len("00-")
	atSpan  = atTrace + 32 + 1
	atFlags = atSpan + 16 + 1
)

// parse parses a traceparent. A later version may have more after what version 00 has.
func parse(text string) (p Parent, ok bool) {
	if len(text) < length || text[atTrace-1] != '-' || text[atSpan-1] != '-' || text[atFlags-1] != '-' {
		return p, false
	}
	var version, flags [1]byte
	for _, field := range []struct {
		to   []byte
		text string
	}{{version[:], text[:atTrace-1]}, {p.trace[:], text[atTrace : atSpan-1]}, {p.span[:], text[atSpan : atFlags-1]}, {flags[:], text[atFlags:length]}} {
		if !decode(field.to, field.text) {
			return p, false
		}
	}
	switch {
	case version[0] == 0xff, p.trace == [16]byte{}, p.span == [8]byte{}:
		return p, false
	case len(text) > length && (version[0] == 0 || text[length] != '-'):
		return p, false
	}
	p.flags = flags[0] & sampled
	return p, true
}

// decode decodes hexadecimal digits, of which only lower case is valid here.
func decode(to []byte, text string) bool {
	for i := range len(text) {
		if 'A' <= text[i] && text[i] <= 'F' {
			return false
		}
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

// String returns the traceparent.
func (p Parent) String() string {
	return "00-" + p.Trace() + "-" + p.Span() + "-" + hex.EncodeToString([]byte{p.flags})
}

// Trace returns the ID of the trace.
func (p Parent) Trace() string { return hex.EncodeToString(p.trace[:]) }

// Span returns the ID of the span.
func (p Parent) Span() string { return hex.EncodeToString(p.span[:]) }

// Attempt returns the trace context of an attempt of the timer, in whose span the receiver does what it does. ok is false
// if the timer was set without one. It is the same whichever server makes it, so that what one of them logs about an
// attempt fits what the receiver got from another.
func Attempt(stored []byte, id durable.ID, due time.Time, attempt int) (p Parent, ok bool) {
	if p, ok = unpack(stored); !ok {
		return p, false
	}
	of := fmt.Append(nil, p, id, due.UnixNano(), attempt) // one that was revived begins with attempt 1 again
	for p.span = [8]byte{}; p.span == [8]byte{}; {        // which is no ID
		sum := sha256.Sum256(of)
		copy(p.span[:], sum[:])
		of = sum[:]
	}
	return p, true
}

// The bytes that the log stores are the binary format of OpenCensus, as those of metrics/oteltrace are: a version, and
// three fields, each after its number.

func (p Parent) pack() []byte {
	return slices.Concat([]byte{0, 0}, p.trace[:], []byte{1}, p.span[:], []byte{2, p.flags})
}

func unpack(b []byte) (p Parent, ok bool) {
	if len(b) != len(p.pack()) {
		return p, false
	}
	copy(p.trace[:], b[2:])
	copy(p.span[:], b[2+len(p.trace)+1:])
	p.flags = b[len(b)-1]
	return p, slices.Equal(p.pack(), b)
}

type key struct{}

// With returns a context for calls that set timers with a trace context.
func With(ctx context.Context, p Parent) context.Context { return context.WithValue(ctx, key{}, p) }

// Tracer implements durable.Tracer: it stores the trace context of With.
type Tracer struct{}

// Inject implements durable.Tracer.
func (Tracer) Inject(ctx context.Context) []byte {
	if p, ok := ctx.Value(key{}).(Parent); ok {
		return p.pack()
	}
	return nil
}

// Start implements durable.Tracer. It is not called, as the service begins attempts by Begin.
func (Tracer) Start(ctx context.Context, _ []byte, _ durable.TracedAttempt) (context.Context, func(error)) {
	return ctx, func(error) {}
}
