package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/program"
	"github.com/epicycle-go/epicycle/tests/long"
)

// door is the door of requests. All timers are those of a queue, from which a worker takes them.
type door struct {
	t    *testing.T
	w    *program.World
	dir  string
	api  *API
	stop context.CancelFunc
	work sync.WaitGroup
}

func (d *door) Open(t *testing.T, w *program.World) {
	d.t, d.w = t, w
	d.api = openAPI(t, durable.Config[string, task.Task]{
		Dir: d.dir, MaxAttempts: w.MaxAttempts, Backoff: func(int) time.Duration { return program.Backoff }, Precision: 1,
	})
	var ctx context.Context
	ctx, d.stop = context.WithCancel(t.Context())
	d.work.Go(func() {
		for ctx.Err() == nil {
			d.take(ctx)
		}
	})
}

func (d *door) Close() {
	d.stop()
	d.work.Wait()
	require.NoError(d.t, d.api.Service.Shutdown(d.t.Context()))
}

// take takes what is due, and ends it.
func (d *door) take(ctx context.Context) {
	var all Firings
	d.ask(ctx, "POST", "/v1/queues/q/take", `{"max":10,"wait":"10m"}`, &all)
	for _, f := range all.Firings {
		d.work.Go(func() {
			err := d.w.Fire(program.Firing{Key: f.Key, Value: textOf(f.Value), ID: f.ID, Due: f.Due, Attempt: f.Attempt})
			what, body := "done", Ending{Tokens: []string{f.Token}}
			if err != nil {
				what, body.Error = "fail", err.Error()
			}
			d.ask(d.t.Context(), "POST", "/v1/queues/q/"+what, jsonOf(body), new(endOutput))
		})
	}
}

// ask makes a request, and decodes the answer. It returns the status.
func (d *door) ask(ctx context.Context, method, path, body string, out any) int {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Host = "localhost"
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	if ctx.Err() == nil && !slices.Contains([]int{200, 404, 409}, w.Code) {
		d.t.Error(method, path, body, w.Code, w.Body)
	}
	_ = json.Unmarshal(w.Body.Bytes(), out)
	return w.Code
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func textOf(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text)
	return text
}

// Do implements program.Door.
func (d *door) Do(op *program.Op) program.Answer {
	path := "/v1/timers/" + op.Key
	switch op.Kind {
	case program.Set, program.Debounce, program.Schedule:
		if op.If != "" {
			path += "?if=" + op.If
		}
		return d.timer("PUT", path, jsonOf(d.setting(op)))
	case program.Move:
		w := d.when(op)
		return d.timer("PATCH", path, jsonOf(Moving{In: w.In, At: w.At}))
	case program.Remove:
		return d.timer("DELETE", path, "")
	case program.Revive:
		return d.timer("POST", path+"/revive", "")
	case program.Pause, program.Resume:
		paused := op.Kind == program.Pause
		return d.timer("PATCH", path, jsonOf(Moving{Paused: &paused}))
	case program.Lookup:
		return d.timer("GET", path, "")
	case program.List:
		return d.list(op)
	case program.Batch:
		return d.batch(op)
	}
	panic(op.Kind)
}

func (d *door) when(op *program.Op) When {
	switch {
	case op.Kind == program.Debounce:
		return When{Debounce: &Debounce{Quiet: op.In.String(), Longest: op.Longest.String()}}
	case op.Kind == program.Schedule:
		return When{Schedule: op.Schedule}
	case op.At:
		return When{At: d.w.Now().Add(op.In).Format(time.RFC3339Nano)}
	}
	return When{In: op.In.String()}
}

func (d *door) setting(op *program.Op) Setting {
	return Setting{Value: []byte(jsonOf(op.Value)), When: d.when(op), To: &Target{Queue: "q"}, Timeout: "10m"}
}

// timer makes a request whose answer is a timer.
func (d *door) timer(method, path, body string) program.Answer {
	var out struct {
		Timer
		There *Timer `json:"timer"` // that does not meet the condition
	}
	status := d.ask(d.t.Context(), method, path, body, &out)
	a := program.Answer{OK: status == 200}
	switch {
	case a.OK:
		a.Timers = append(a.Timers, shown(&out.Timer))
	case out.There != nil:
		a.Timers = append(a.Timers, shown(out.There))
	}
	return a
}

func shown(t *Timer) program.Timer {
	s := program.Timer{Key: t.Key, Value: textOf(t.Value), ID: t.ID, Due: t.Due, Attempt: t.Attempt, State: t.State,
		Schedule: t.Schedule, LastError: t.LastError, Paused: t.Paused}
	if t.Next != nil {
		s.Next = *t.Next
	}
	if t.LastFailed != nil {
		s.LastFailed = *t.LastFailed
	}
	return s
}

func (d *door) list(op *program.Op) program.Answer {
	a := program.Answer{OK: true}
	query := fmt.Sprintf("/v1/timers?prefix=%s&limit=%d", op.Prefix, op.Limit)
	if op.State != "" {
		query += "&state=" + op.State
	}
	for after := ""; ; {
		var page Page
		d.ask(d.t.Context(), "GET", query+"&after="+after, "", &page)
		for i := range page.Timers {
			a.Timers = append(a.Timers, shown(&page.Timers[i]))
		}
		if after = page.Next; after == "" {
			return a
		}
	}
}

func (d *door) batch(op *program.Op) program.Answer {
	var in Batch
	for i := range op.Ops {
		o := &op.Ops[i]
		one := Operation{Op: string(o.Kind), Key: o.Key, If: o.If}
		switch o.Kind {
		case program.Set, program.Debounce, program.Schedule:
			one.Op, one.Setting = "set", d.setting(o)
		case program.Move:
			one.When = d.when(o)
		}
		in.Operations = append(in.Operations, one)
	}
	var out struct{ Results []Result }
	d.ask(d.t.Context(), "POST", "/v1/batch", jsonOf(in), &out)
	a := program.Answer{OK: true}
	for _, r := range out.Results {
		a.Each = append(a.Each, program.Answer{OK: r.OK})
	}
	return a
}

// Requests have the same answers as calls of the library, and the same timers fire at the same times.
func TestRequestsAreAsCallsOfTheLibrary(t *testing.T) {
	cfg := program.Config{
		MaxAttempts: 3,
		Kinds: []program.Kind{program.Set, program.Debounce, program.Schedule, program.Move, program.Remove, program.Revive,
			program.Pause, program.Resume, program.Lookup, program.List, program.Batch},
		Batched: []program.Kind{program.Set, program.Debounce, program.Schedule, program.Move, program.Remove},
		Firings: func(f *program.Firing) { f.Missed = 0 },
		Answers: func(op *program.Op, a *program.Answer) {
			a.Text = ""
			for i := range a.Each {
				a.Each[i].Timers = nil
			}
		},
	}
	for seed := range uint64(long.Or(6, 90)) {
		cfg.Slow, cfg.Down = seed%3 == 1, time.Duration(seed%3/2)*20*time.Second
		var want []string
		synctest.Test(t, func(t *testing.T) { want = cfg.Run(t, seed, program.InDirectory(t), nil, cfg.Down > 0) })
		synctest.Test(t, func(t *testing.T) {
			program.Same(t, want, cfg.Run(t, seed, &door{dir: t.TempDir()}, nil, !cfg.Slow), "seed %d", seed)
		})
	}
}
