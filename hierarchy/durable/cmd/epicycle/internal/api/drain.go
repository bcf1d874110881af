package api

import (
	"io"
	"net/http"
	"time"
)

// Limits for reading the rest of bodies that are too large.
const (
	drainSome = 256 << 10 // the number of bytes that package http reads by itself
	drainMost = 16 << 20
	drainTime = 10 * time.Second
)

// drain makes sure that the rest of a body is read after the answer. If the connection were closed instead, a client
// that writes the whole body before it reads would not get the answer. The returned function must be called at the end
// of the request.
func drain(w http.ResponseWriter, r *http.Request) func() {
	if r.ContentLength >= 0 && r.ContentLength <= drainSome || r.Header.Get("Expect") != "" {
		return func() {}
	}
	body := r.Body
	r.Body = io.NopCloser(body) // a body that was closed can't be read any more
	return func() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
		_, _ = io.CopyN(io.Discard, body, drainMost)
	}
}
