package view

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	defaultInterval = time.Second
	minInterval     = 100 * time.Millisecond
	maxInterval     = 10 * time.Second

	// writeTimeout is the longest time that a client may take to read an event.
	writeTimeout = 10 * time.Second

	// retryDelay is the time for which a client waits before it reconnects.
	retryDelay = time.Second
)

// intervalOf returns the time between the events that r requests.
func intervalOf(r *http.Request) (time.Duration, error) {
	q := r.URL.Query()
	if !q.Has("every") {
		return defaultInterval, nil
	}
	every, err := time.ParseDuration(q.Get("every"))
	if err != nil || every < minInterval || every > maxInterval {
		return 0, fmt.Errorf("view: every=%q is not a duration from %v to %v, such as every=250ms",
			q.Get("every"), minInterval, maxInterval)
	}
	return every, nil
}

// serveEvents sends figures until the client disconnects or stops reading.
func (d display) serveEvents(w http.ResponseWriter, r *http.Request) {
	every, err := intervalOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store, no-transform")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers events
	if r.Method == http.MethodHead {
		return
	}
	s := &stream{to: w, control: http.NewResponseController(w)}
	if err := s.open(); err != nil {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for s.send(d.figures.get(every/2)) == nil {
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

// stream writes events to one client.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// open sends the header and the retry delay. It fails if the writer can't flush, because
// the client would then get no events.
func (s *stream) open() error {
	// A Server.ReadTimeout would end the stream.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if err := s.extend(); err != nil {
		return err
	}
	err := s.control.Flush()
	if errors.Is(err, http.ErrNotSupported) {
		http.Error(s.to, "view: a wrapper of this handler can't send a stream: its ResponseWriter has no Flush and no Unwrap",
			http.StatusInternalServerError)
	}
	if err == nil {
		_, err = fmt.Fprintf(s.to, "retry: %d\n\n", retryDelay.Milliseconds())
	}
	return err
}

// send writes one event. data must be one line, as package json writes it.
func (s *stream) send(data []byte) error {
	if err := s.extend(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.to, "data: %s\n\n", data); err != nil {
		return err
	}
	return s.control.Flush()
}

// extend gives the client another writeTimeout to read. It overrides a Server.WriteTimeout, which would end the stream.
// If the writer does not support deadlines, the client has no time limit.
func (s *stream) extend() error {
	err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
