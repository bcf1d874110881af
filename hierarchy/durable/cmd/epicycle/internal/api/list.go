package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

type listInput struct {
	Prefix string `query:"prefix" doc:"Of the keys"`
	State  string `query:"state" enum:"waiting,running,dead,failing,paused" doc:"failing: those that are not dead, and whose last attempt has failed; paused: those whose schedule is paused"`
	Limit  int    `query:"limit" default:"100" minimum:"1" maximum:"1000"`
	After  string `query:"after" doc:"The next of the page before"`
	w      http.ResponseWriter
}

// Resolve implements huma.Resolver.
func (in *listInput) Resolve(ctx huma.Context) []error {
	_, in.w = humago.Unwrap(ctx)
	return nil
}

// Page is an answer to a list.
type Page struct {
	Timers []Timer `json:"timers" nullable:"false"`
	Next   string  `json:"next,omitempty" doc:"The after of the next page; absent at the end. A page can have less than its limit before that"`
}

func (a *API) registerList(api huma.API) {
	op := timer("GET", "list", "/v1/timers", "Timers in order of their keys", 429)
	page := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Page](), true, "")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: page}},
	}}
	huma.Register(api, op, a.list)
}

func (a *API) list(ctx context.Context, in *listInput) (*huma.StreamResponse, error) {
	prefix, err := a.mayPrefix(ctx, access.Read, in.Prefix)
	if err != nil {
		return nil, err
	}
	q := durable.Query{Prefix: prefix, After: in.After, Limit: in.Limit + 1}
	for _, state := range []durable.State{durable.StateWaiting, durable.StateRunning, durable.StateDead} {
		if in.State == state.String() {
			q.States = append(q.States, state)
		}
	}
	if is, ok := sifts[in.State]; ok {
		q.States = []durable.State{durable.StateWaiting, durable.StateRunning}
		return &huma.StreamResponse{Body: func(huma.Context) { a.listSome(ctx, in.w, q, is) }}, nil
	}
	return &huma.StreamResponse{Body: func(huma.Context) { a.listTo(ctx, in.w, q) }}, nil
}

// sifts are what a list takes for states besides those of timers: timers that wait for another attempt, or have it, after one
// that has failed; and timers whose schedule is paused.
var sifts = map[string]func(*service.Entry) bool{
	"failing": func(e *service.Entry) bool { return e.LastError != "" },
	"paused":  func(e *service.Entry) bool { return e.Paused },
}

// listSome writes a page of the timers of a query for which is returns true. It looks at all timers of the query, as no index
// has these alone. So it may take its time for a part of them, and end with a next and without any timer.
func (a *API) listSome(ctx context.Context, w http.ResponseWriter, q durable.Query, is func(*service.Entry) bool) {
	most := q.Limit - 1
	q.Limit = 0
	a.stream(ctx, w, &a.lists, "application/json", func(out *bufio.Writer) error {
		p := pageWriter{out: out, until: callOf(ctx).partly(), most: most, headers: seesHeaders(ctx)}
		for e, err := range a.Service.Scan(ctx, q) {
			switch {
			case err != nil:
				return err
			case !is(&e):
				p.last = e.Key
			case p.full():
				return p.end(true)
			default:
				if err := p.timer(timerOf(&e, p.headers)); err != nil {
					return err
				}
			}
			if p.late() {
				return p.end(true)
			}
		}
		return p.end(false)
	})
}

// listTo writes a page: all timers of a query but the last, which only tells that there is another page.
func (a *API) listTo(ctx context.Context, w http.ResponseWriter, q durable.Query) {
	a.stream(ctx, w, &a.lists, "application/json", func(out *bufio.Writer) error {
		p := pageWriter{out: out, until: callOf(ctx).partly(), most: q.Limit - 1, headers: seesHeaders(ctx)}
		for e, err := range a.Service.Scan(ctx, q) {
			if err != nil {
				return err
			}
			if p.full() {
				return p.end(true)
			}
			if err := p.timer(timerOf(&e, p.headers)); err != nil {
				return err
			}
		}
		return p.end(false)
	})
}

// pageWriter writes a Page, a timer at a time.
type pageWriter struct {
	out     *bufio.Writer
	until   time.Time // when the page ends even if it is not full
	most    int
	headers bool // timers have the values of headers
	n       int
	last    string // the key after which the next page begins
}

func (p *pageWriter) full() bool { return p.n == p.most || p.n > 0 && p.late() }
func (p *pageWriter) late() bool { return !time.Now().Before(p.until) }

func (p *pageWriter) timer(t Timer) error {
	separator := ","
	if p.n == 0 {
		separator = `{"timers":[`
	}
	if _, err := p.out.WriteString(separator); err != nil {
		return err
	}
	p.n++
	p.last = t.Key
	return p.json(&t)
}

// end ends the page. more reports whether there is another one.
func (p *pageWriter) end(more bool) error {
	if p.n == 0 {
		page := Page{Timers: []Timer{}}
		if more {
			page.Next = p.last
		}
		return p.json(&page)
	}
	_, _ = p.out.WriteString("]") // Flush returns the error
	if more {
		_, _ = p.out.WriteString(`,"next":`)
		if err := p.json(p.last); err != nil {
			return err
		}
	}
	_, err := p.out.WriteString("}\n")
	return err
}

func (p *pageWriter) json(v any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
