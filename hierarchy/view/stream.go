package view

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	usualInterval = time.Second
	minInterval   = 100 * time.Millisecond
	maxInterval   = 10 * time.Second

	// stuck is how long a client may take to read what was sent to it.
	stuck = 10 * time.Second

	// again is when a client asks again after its connection broke.
	again = time.Second
)

// intervalOf is how often r wants to be told.
func intervalOf(r *http.Request) (time.Duration, error) {
	q := r.URL.Query()
	if !q.Has("every") {
		return usualInterval, nil
	}
	every, err := time.ParseDuration(q.Get("every"))
	if err != nil || every < minInterval || every > maxInterval {
		return 0, fmt.Errorf("view: every=%q is not a duration from %v to %v, such as every=250ms",
			q.Get("every"), minInterval, maxInterval)
	}
	return every, nil
}

// serveEvents sends figures until the client has gone, or reads no more.
func (e exhibit) serveEvents(w http.ResponseWriter, r *http.Request) {
	every, err := intervalOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store, no-transform")
	w.Header().Set("X-Accel-Buffering", "no") // proxies would gather events until they are many
	if r.Method == http.MethodHead {
		return
	}
	s := &stream{to: w, control: http.NewResponseController(w)}
	if err := s.open(); err != nil {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for s.send(e.figures.notOlder(every/2)) == nil {
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

// stream is one client's.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// open sends the header, and when to come again after the connection breaks.
// Writers that can't send at once would show nothing.
func (s *stream) open() error {
	// A Server.ReadTimeout is for requests, and would end a stream.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if err := s.extend(); err != nil {
		return err
	}
	err := s.control.Flush()
	if errors.Is(err, http.ErrNotSupported) {
		http.Error(s.to, "view: what wraps this handler can't send a stream: its ResponseWriter has neither Flush nor Unwrap",
			http.StatusInternalServerError)
	}
	if err == nil {
		_, err = fmt.Fprintf(s.to, "retry: %d\n\n", again.Milliseconds())
	}
	return err
}

// send writes one event. JSON as Go writes it is one line, as an event must be.
func (s *stream) send(data []byte) error {
	if err := s.extend(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.to, "data: %s\n\n", data); err != nil {
		return err
	}
	return s.control.Flush()
}

// extend gives the client time to read. It replaces a Server.WriteTimeout, which
// would end the stream, and is not possible with some writers, which have none.
func (s *stream) extend() error {
	err := s.control.SetWriteDeadline(time.Now().Add(stuck))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
