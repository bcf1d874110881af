package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	durableview "github.com/epicycle-go/epicycle/hierarchy/durable/view"
	"github.com/epicycle-go/epicycle/hierarchy/view"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

// tickets permit a browser to see the live page, whose stream can't have a token in a header. The page shows figures,
// and neither keys nor values.
type tickets struct {
	mu    sync.Mutex
	until map[string]time.Time
}

const (
	ticketTime = 12 * time.Hour
	maxTickets = 1000
)

// give returns a new ticket.
func (t *tickets) give() string {
	ticket := rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until == nil {
		t.until = make(map[string]time.Time)
	}
	now := time.Now()
	for other, until := range t.until {
		if until.Before(now) || len(t.until) >= maxTickets {
			delete(t.until, other)
		}
	}
	t.until[ticket] = now.Add(ticketTime)
	return ticket
}

func (t *tickets) valid(ticket string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.until[ticket])
}

// registerLive registers the live page, and the request for its tickets.
func (a *API) registerLive() {
	options := []view.Option{view.Title("epicycle")}
	if a.Tokens != nil {
		options = append(options, view.Hosts("*"))
	}
	page := durableview.Handler(a.Service.Timers, options...)
	var tickets tickets
	a.mux.HandleFunc("POST /v1/live", func(w http.ResponseWriter, r *http.Request) {
		if err := a.mayAll(r.Context(), access.Read); err != nil {
			failure(err).write(w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"path": "live/" + tickets.give() + "/"})
	})
	a.mux.HandleFunc("GET /live/{ticket}/", func(w http.ResponseWriter, r *http.Request) {
		if !tickets.valid(r.PathValue("ticket")) {
			errToken.write(w)
			return
		}
		ctx, cancel := context.WithCancel(r.Context()) // a stream does not end by itself
		defer cancel()
		defer a.Service.OnDrain(cancel)()
		page.ServeHTTP(w, r.WithContext(ctx))
	})
}
