package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

const (
	eventType = "text/event-stream"
	// EventMissed is the event that tells a reader how many others it has missed, since it reads too slowly.
	EventMissed = "missed"
	// aliveTime is the longest time in which nothing is sent to who follows events.
	aliveTime = 15 * time.Second
)

// Event is an event, as the data of server-sent events. With EventMissed it has Missed, and no key.
type Event struct {
	service.Event
	Missed int `json:"missed,omitempty"`
}

func (a *API) registerEvents(api huma.API) {
	op := timer("GET", "events", "/v1/events", "What happens to timers, as it happens", 429)
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Server-sent events set, moved, removed, paused, resumed, begun, done, failed and dead, whose data is JSON with event, at and key, and id, attempt " +
			"and error where there is one. An event missed has in missed how many others the client has missed, since it reads too slowly",
		Content: map[string]*huma.MediaType{eventType: {Schema: &huma.Schema{Type: "string"}}},
	}}
	huma.Register(api, op, a.events)
}

func (a *API) events(ctx context.Context, in *prefixInput) (*huma.StreamResponse, error) {
	prefix, err := a.mayPrefix(ctx, access.Read, in.Prefix)
	if err != nil {
		return nil, err
	}
	if err := a.ready(); errors.Is(err, errDraining) || errors.Is(err, durable.ErrClosed) {
		p := problem(http.StatusServiceUnavailable, err.Error())
		p.retryAfter = retryTime
		return nil, p
	}
	return &huma.StreamResponse{Body: func(huma.Context) { a.eventsTo(ctx, in.w, prefix) }}, nil
}

// eventsTo sends events until the client leaves, or the server shuts down. A client that reads nothing for a while is cut
// off.
func (a *API) eventsTo(ctx context.Context, w http.ResponseWriter, prefix string) {
	name := ""
	if who, ok := ctx.Value(bearerKey{}).(*access.Bearer); ok {
		name = who.Name
	}
	if !a.follows.begin(name) {
		errStreams.write(w)
		return
	}
	defer a.follows.end(name)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer a.Service.OnDrain(cancel)()
	c := callOf(ctx)
	c.pause()
	reader := a.Service.Follow(ctx, prefix)
	defer a.Service.Leave(reader)
	h := w.Header()
	h.Set("Content-Type", eventType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of proxies
	f := follower{bufio.NewWriterSize(&patient{w, c, a.follows.patience}, partSize), c}
	if err := f.follow(ctx, reader); err != nil && ctx.Err() == nil {
		a.Logger.Debug("epicycle: a client does not read its events", "err", err)
		panic(http.ErrAbortHandler)
	}
}

// patient writes to a client that has a time in which it has to read what is written.
type patient struct {
	http.ResponseWriter
	call     *call
	patience time.Duration
}

func (p *patient) Write(b []byte) (int, error) {
	_ = p.call.control.SetWriteDeadline(time.Now().Add(p.patience))
	return p.ResponseWriter.Write(b)
}

// follower writes events.
type follower struct {
	out  *bufio.Writer
	call *call
}

func (f *follower) follow(ctx context.Context, reader *service.Reader) error {
	_, _ = f.out.WriteString(": events follow\n\n") // flush returns the error
	for {
		if err := f.flush(); err != nil {
			return err
		}
		alive, cancel := context.WithTimeout(ctx, aliveTime)
		events, missed, err := reader.Read(alive)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil: // a proxy, or the client, could take a silent connection for a dead one
			_, _ = f.out.WriteString(":\n\n")
		default:
			f.write(events, missed)
		}
	}
}

func (f *follower) flush() error {
	if err := f.out.Flush(); err != nil {
		return err
	}
	return f.call.control.Flush()
}

func (f *follower) write(events []*service.Event, missed int) {
	for _, e := range events {
		f.event(&Event{Event: *e})
	}
	if missed > 0 {
		f.event(&Event{service.Event{Kind: EventMissed, At: time.Now().UTC()}, missed})
	}
}

func (f *follower) event(e *Event) {
	fmt.Fprintf(f.out, "event: %s\ndata: ", e.Kind)
	enc := json.NewEncoder(f.out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // it has no newline but the last one
	_ = f.out.WriteByte('\n')
}
