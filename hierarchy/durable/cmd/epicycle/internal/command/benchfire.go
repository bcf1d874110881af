package command

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// hooks receives webhooks, and measures how late they are.
type hooks struct {
	total int
	done  chan struct{} // closed when all webhooks have arrived

	mu    sync.Mutex
	late  hierarchy.Histogram // guarded by mu
	early int                 // guarded by mu
}

// ServeHTTP implements http.Handler.
func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	due, err := time.Parse(time.RFC3339Nano, r.Header.Get("epicycle-due"))
	w.WriteHeader(http.StatusNoContent)
	if err != nil || r.Header.Get("epicycle-attempt") != "1" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Before(due) {
		h.early++
	}
	if h.late.Add(now.Sub(due)); h.late.Count() == uint64(h.total) {
		close(h.done)
	}
}

// fire sets timers whose webhooks come to this process, and measures how late they are.
func (b *bench) fire() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &hooks{total: int(b.last.Seconds() * float64(b.rate)), done: make(chan struct{})}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	if err := b.setFiring("http://"+listener.Addr().String()+"/", h.total); err != nil {
		return err
	}
	select {
	case <-h.done:
	case <-b.ctx.Done():
		return b.ctx.Err()
	case <-time.After(b.last + fireTime):
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return b.report(fmt.Sprintf("due to the webhook's request, %s/s", terminal.Count(b.rate)), float64(b.rate), &h.late,
		fmt.Sprintf("%s of %s, %d early", terminal.Count(h.late.Count()), terminal.Count(h.total), h.early))
}

// fireTime limits the wait of a measurement for its last webhooks. If the server runs without -allow, no webhook
// arrives.
const fireTime = 15 * time.Second

// setFiring sets timers that are due evenly over the time of a measurement, which begins some seconds after the call of
// setFiring.
func (b *bench) setFiring(hook string, total int) error {
	begin := time.Now().Add(2*time.Second + time.Duration(total)*20*time.Microsecond)
	to, _ := url.Parse(hook)
	for from := 0; from < total; from += b.size {
		var s strings.Builder
		s.WriteString(`{"operations":[`)
		for i := from; i < min(total, from+b.size); i++ {
			if i > from {
				s.WriteByte(',')
			}
			at := begin.Add(time.Duration(float64(i) / float64(b.rate) * float64(time.Second)))
			fmt.Fprintf(&s, `{"op":"set","key":"%sfire-%d","at":%q,"value":{"n":%d},"to":{"webhook":%q}}`,
				benchPrefix, i, at.Format(time.RFC3339Nano), i, to)
		}
		s.WriteString(`]}`)
		if err := b.send(http.MethodPost, "/v1/batch", s.String()); err != nil {
			return err
		}
	}
	return nil
}
